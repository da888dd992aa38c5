// The reader's own versions: they are kept before something replaces them, and can be brought back.

package main

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// replace replaces declarations in the file of an exercise by those of source, and sets the state
// of the exercise. First it keeps what the reader has written there. If it refuses, nothing has
// changed.
func (p *practice) replace(e exercise, v versions, source string, names []string, state string) error {
	if err := p.isFree(e); err != nil {
		return err
	}
	text := transplant(v.mine, source, names)
	if err := p.mayReplace(e, v.mine, text); err != nil {
		return err
	}
	kept, err := p.keepAll(e, v)
	if err != nil {
		return err
	}
	file := filepath.Join(p.root, e.file)
	if err := writeWhole(file, text); err != nil {
		return err
	}
	err = e.setStartedAt(p.root)
	if err == nil {
		err = e.setState(p.root, state)
	}
	if err != nil {
		return errors.Join(err, writeWhole(file, v.mine))
	}
	stay := versions{book: v.book, mine: source}.addedIn(text)
	if len(stay) > 0 && (kept || state == untouched) {
		p.printf("What the book does not have stays: %s.\n\n", strings.Join(stay, ", "))
	}
	return nil
}

// mayReplace returns an error if the file of an exercise is not valid Go and would not become so,
// or if another file of the folder has a declaration that the new text adds.
func (p *practice) mayReplace(e exercise, before, after string) error {
	if err := syntaxError(e.file, before); err != nil && syntaxError(e.file, after) != nil {
		return err
	}
	had, beside := textsOf(before), placesBeside(p.root, e.file)
	for _, d := range declarations(after) {
		if place := beside[d.name]; place != "" && had[d.name] == "" {
			return fmt.Errorf("%s: %s is here, and %s would get it, too. Nothing has changed: "+
				"move it back to %[3]s, or delete it, and try again", place, d.name, e.file)
		}
	}
	return nil
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

// keepAll keeps what the reader has written at the place of an exercise, before it is replaced. It
// reports whether there was something.
func (p *practice) keepAll(e exercise, v versions) (keptAny bool, err error) {
	for _, owner := range p.owners(e, v) {
		theirs, err := owner.versions(p.root)
		if err != nil {
			return keptAny, err
		}
		kept, err := owner.keep(p.root, theirs)
		if err != nil {
			return keptAny, err
		}
		if kept {
			keptAny = true
			p.printf("Your version of %s is replaced, and kept: `scripts/practice.sh mine %[1]s` brings it back.\n\n",
				owner.name)
		}
	}
	return keptAny, nil
}

// owners returns the exercises for which the reader has written the code at the place of e: for each
// declaration that is not the book's, the exercise that was started last. If there is none, it is e.
func (p *practice) owners(e exercise, v versions) (all []exercise) {
	mine, book := textsOf(v.mine), textsOf(v.book)
	names := slices.DeleteFunc(slices.Clone(v.names), func(name string) bool {
		return mine[name] == "" || mine[name] == book[name]
	})
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
	if len(rest) > 0 && !owns(e, all) {
		all = append(all, e)
	}
	return all
}

// owns reports whether an exercise is one of these.
func owns(e exercise, owners []exercise) bool {
	return slices.ContainsFunc(owners, func(owner exercise) bool { return owner.name == e.name })
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

// mine brings the reader's version back that was kept. What is there now is kept in its place. The
// exercise is open then, until a check passes.
func (p *practice) mine(e exercise) error {
	if !p.hasKept(e) {
		return fmt.Errorf("no version of yours is kept for %s", e.name)
	}
	yours, err := git(p.root, "show", e.ref(readers))
	if err != nil {
		return err
	}
	v, err := e.versions(p.root)
	if err != nil {
		return err
	}
	if err := p.replace(e, v, yours, append(v.names, v.addedIn(yours)...), open); err != nil {
		return err
	}
	p.printf("%s has your version of %s again. Then: scripts/practice.sh check %[2]s\n", e.file, e.name)
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
	if err := p.replace(e, v, v.book, v.names, untouched); err != nil {
		return err
	}
	stays := ""
	if solvedOnce(p.root)[e.name] {
		stays = " It stays solved."
	}
	p.printf("%s has the book's code again where %s was.%s\n", e.file, e.name, stays)
	return nil
}
