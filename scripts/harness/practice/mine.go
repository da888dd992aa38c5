// The reader's own versions: they are kept before something replaces them, and can be brought back.

package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// put writes the reader's file for an exercise.
func (p *practice) put(e exercise, text string) error {
	if err := e.setStartedAt(p.root); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(p.root, e.file), []byte(text), 0o666)
}

// atSamePlace returns the other exercises that are about one of these declarations of the file of
// an exercise.
func (p *practice) atSamePlace(e exercise, names []string) []exercise {
	return filter(p.all, func(other exercise) bool {
		if other.name == e.name || other.file != e.file {
			return false
		}
		v, err := other.versions(p.root)
		return err == nil && len(inBoth(v.names, names)) > 0
	})
}

// inBoth returns the names that are in both lists.
func inBoth(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(name string) bool { return !slices.Contains(b, name) })
}

// openAtSamePlace returns an open exercise that is about the same declaration as e, and the name of
// the declaration, or "".
func (p *practice) openAtSamePlace(e exercise) (other, name string, err error) {
	ours, err := e.versions(p.root)
	if err != nil {
		return "", "", err
	}
	opened := p.inState(p.atSamePlace(e, ours.names), open)
	if len(opened) == 0 {
		return "", "", nil
	}
	v, err := opened[0].versions(p.root)
	if err != nil {
		return "", "", err
	}
	return opened[0].name, inBoth(v.names, ours.names)[0], nil
}

// keepAll keeps what the reader has written at the place of an exercise, before it is replaced.
func (p *practice) keepAll(e exercise, v versions) error {
	for _, owner := range p.owners(e, v.names) {
		theirs, err := owner.versions(p.root)
		if err != nil {
			return err
		}
		kept, err := owner.keep(p.root, theirs)
		if err != nil {
			return err
		}
		if kept {
			p.printf("Your version of %s is replaced, and kept: `scripts/practice.sh mine %s` brings it back.\n\n",
				strings.Join(inBoth(theirs.names, v.names), ", "), owner.name)
		}
	}
	return nil
}

// owners returns the exercises for which the reader has written these declarations: for each
// declaration the exercise that was started last. If there is none, it is e.
func (p *practice) owners(e exercise, names []string) (all []exercise) {
	now := states(p.root)
	candidates := filter(append(p.atSamePlace(e, names), e), func(c exercise) bool { return now[c.name] != untouched })
	slices.SortStableFunc(candidates, func(a, b exercise) int {
		return cmp.Compare(b.startedAt(p.root), a.startedAt(p.root))
	})
	rest := slices.Clone(names)
	for _, c := range candidates {
		v, err := c.versions(p.root)
		before := len(rest)
		rest = slices.DeleteFunc(rest, func(name string) bool { return slices.Contains(v.names, name) })
		if err == nil && len(rest) < before {
			all = append(all, c)
		}
	}
	if len(rest) > 0 && !slices.ContainsFunc(all, func(c exercise) bool { return c.name == e.name }) {
		all = append(all, e)
	}
	return all
}

// isFree returns an error if another exercise is open at the place of e.
func (p *practice) isFree(e exercise) error {
	other, name, err := p.openAtSamePlace(e)
	if err == nil && other != "" {
		err = fmt.Errorf("%s is about %s of %s, where %s is open: solve or reset %[4]s first",
			e.name, name, e.file, other)
	}
	return err
}

// hasKept reports whether a version of the reader's is kept.
func (p *practice) hasKept(e exercise) bool {
	_, err := git(p.root, "rev-parse", "--verify", "--quiet", e.ref(readers))
	return err == nil
}

// mine brings the reader's version back that was kept. What is there now is kept in its place.
func (p *practice) mine(e exercise) error {
	if !p.hasKept(e) {
		return fmt.Errorf("no version of yours is kept for %s", e.name)
	}
	if err := p.isFree(e); err != nil {
		return err
	}
	yours, err := git(p.root, "show", e.ref(readers))
	if err != nil {
		return err
	}
	v, err := e.versions(p.root)
	if err != nil {
		return err
	}
	if err := p.keepAll(e, v); err != nil {
		return err
	}
	if p.state(e) == untouched {
		if err := e.setState(p.root, open); err != nil {
			return err
		}
	}
	if err := p.put(e, transplant(v.mine, yours, append(v.names, v.addedIn(yours)...))); err != nil {
		return err
	}
	p.printf("%s has your version of %s again.\n", e.file, strings.Join(v.names, ", "))
	return nil
}

// addedIn returns the names of the declarations in a text that neither the book nor the reader's
// file has: helpers that the reader has written.
func (v versions) addedIn(text string) (names []string) {
	for _, d := range declarations(text) {
		if textOf(v.book, d.name) == "" && textOf(v.mine, d.name) == "" {
			names = append(names, d.name)
		}
	}
	return names
}

// reset puts the book's code back where the exercise is.
func (p *practice) reset(e exercise) error {
	v, err := e.versions(p.root)
	if err != nil {
		return err
	}
	if p.state(e) == untouched && same(v.mine, v.book, v.names) {
		p.printf("%s was not started: %s has the book's code already, and nothing has changed.\n", e.name, e.file)
		return nil
	}
	if err := p.isFree(e); err != nil {
		return err
	}
	if err := p.keepAll(e, v); err != nil {
		return err
	}
	if err := e.setState(p.root, untouched); err != nil {
		return err
	}
	text := transplant(v.mine, v.book, v.names)
	if err := p.put(e, text); err != nil {
		return err
	}
	p.printf("%s has the book's code again where %s was.\n", e.file, e.name)
	if added := (versions{book: v.book}).addedIn(text); len(added) > 0 {
		p.printf("What the book does not have stays: %s.\n", strings.Join(added, ", "))
	}
	return nil
}
