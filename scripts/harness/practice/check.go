// Checking an exercise with the book's tests and steps.

package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
)

// check checks exercises, and prints whether they are solved.
func (p *practice) check(ctx context.Context, named []exercise) error {
	failed := 0
	for _, e := range named {
		if err := p.mayCheck(e); err != nil {
			if len(named) == 1 {
				return err
			}
			p.printf("%v\n", err)
			continue
		}
		ok, err := p.isSolved(ctx, e)
		if err != nil {
			return err
		}
		if !ok {
			failed++
			if err := alone(p.root, func() error { return p.reopen(e) }); err != nil {
				return err
			}
			continue
		}
		if err := alone(p.root, func() error { return p.solve(e) }); err != nil {
			return err
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d not solved yet; scripts/practice.sh hint gives a hint", failed, len(named))
	}
	return nil
}

// mayCheck returns an error if the reader's code for this exercise is not in the file.
func (p *practice) mayCheck(e exercise) error {
	if p.state(e) == untouched {
		return fmt.Errorf("%s is not started: scripts/practice.sh start %[1]s", e.name)
	}
	other, name, err := p.openAtSamePlace(e)
	if err == nil && other != "" {
		err = fmt.Errorf("%s of %s belongs to %s now, which is open: solve or reset %[3]s first, then "+
			"`scripts/practice.sh mine %s` brings your version back", name, e.file, other, e.name)
	}
	return err
}

// reopen makes a solved exercise open again, because its check has failed. If the code at its place
// was written for another exercise, it stays solved: its own version is not there.
func (p *practice) reopen(e exercise) error {
	if p.state(e) != solved {
		return nil
	}
	v, err := e.versions(p.root)
	if err != nil {
		return err
	}
	if owners := p.owners(e, v); len(owners) > 0 && !owns(e, owners) {
		p.printf("%s stays solved: what is there now is your version of %s.\n", e.name, owners[0].name)
		return nil
	}
	p.printf("%s was solved, and is open again.\n", e.name)
	return e.setState(p.root, open)
}

// solve makes an exercise solved, keeps the reader's solution, and says what comes now.
func (p *practice) solve(e exercise) error {
	v, err := e.versions(p.root)
	if err != nil {
		return err
	}
	owners := p.owners(e, v)
	if owns(e, owners) {
		if _, err := e.keep(p.root, v); err != nil {
			return err
		}
	}
	if err := e.setState(p.root, solved); err != nil {
		return err
	}
	p.printf("\n%s: solved. ", e.name)
	p.printf("That makes %d of %d.\n", len(p.solved(p.all)), len(p.all))
	if place := e.explanation(p.root, v.names); e.kind == fix && place != "" {
		p.printf("Read now:    %s explains it\n", place)
	}
	p.printf("Compare:     scripts/practice.sh solution %s has the book's code, and says why\n", e.name)
	for _, other := range p.atSamePlace(e, v.names) {
		if p.hasKept(other) && !owns(other, owners) {
			p.printf("Yours again: scripts/practice.sh mine %s brings your own version of %[1]s back\n", other.name)
		}
	}
	p.printNext()
	return nil
}

// isSolved runs the commands of an exercise, and prints all that fails.
func (p *practice) isSolved(ctx context.Context, e exercise) (ok bool, err error) {
	dir, err := os.MkdirTemp("", "practice")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	texts, err := p.booksFiles(e)
	if err != nil {
		return false, err
	}
	overlay, err := writeOverlay(p.root, dir, texts)
	if err != nil {
		return false, err
	}
	p.printf("%s: %s\n", e.name, e.file)
	failures, err := newChecker(p.root, dir, overlay, p.out).runAll(ctx, e.checks, 0)
	return len(failures) == 0, err
}

// A failure is a test or a step that has failed.
type failure struct {
	name string // of the test, or the step
	text string // what the reader sees of its output
}

// runAll runs commands, up to this number of failures; 0 means all of them. It prints each test and
// each step, and what is wrong with it.
func (c *checker) runAll(ctx context.Context, commands []command, limit int) (failures []failure, err error) {
	fail := func(name, text string) (enough bool) {
		failures = append(failures, failure{name, text})
		fmt.Fprintf(c.out, "  FAIL  %s\n        %s\n", name, strings.ReplaceAll(text, "\n", "\n        "))
		return len(failures) == limit
	}
	for _, cmd := range commands {
		if cmd.whole && len(failures) > 0 {
			continue // the tests that the exercise names say enough
		}
		binary, text, err := c.build(ctx, cmd)
		if err != nil {
			return failures, err
		}
		if text != "" { // the other commands would say the same
			fail(cmd.program, text)
			return failures, nil
		}
		names, together := cmd.names(), ""
		if cmd.whole {
			if together, names, err = c.testAll(ctx, cmd, binary); err != nil {
				return failures, err
			}
			if together == "" {
				fmt.Fprintf(c.out, "  ok    %s\n", cmd.line)
			}
		}
		for _, name := range names { // of a whole package, each by itself, because a panic ends the others
			text, err := c.runOne(ctx, cmd, binary, name)
			if err != nil {
				return failures, err
			}
			if text == "" {
				if !cmd.whole {
					fmt.Fprintf(c.out, "  ok    %s\n", name)
				}
				continue
			}
			if enough := fail(name, text); enough || isEndless(text) {
				return failures, nil // the other tests may hang, too
			}
		}
		if together != "" && len(failures) == 0 { // each test passes by itself
			fail(cmd.line, together)
		}
	}
	return failures, nil
}

// names returns the names of a command's tests, or of its step, or the whole command.
func (cmd command) names() []string {
	if cmd.tests != nil {
		return cmd.tests
	}
	return []string{cmd.line}
}

// runOne runs a test or the step of a command, and returns what is wrong, or "".
func (c *checker) runOne(ctx context.Context, cmd command, binary, name string) (failure string, err error) {
	if cmd.args != nil {
		return c.step(ctx, cmd, binary)
	}
	return c.test(ctx, cmd, binary, name)
}

// booksFiles returns the files that a check takes from the book, in the place of the reader's: each
// test, transcript and step that the reader has changed, except for the file of the exercise. Of
// the other exercises that are open, it takes the declarations from the book, so that they do not
// disturb. An empty text means that the book has no such file.
func (p *practice) booksFiles(e exercise) (texts map[string]string, err error) {
	texts = map[string]string{}
	book := bookCommit(p.root)
	patterns := []string{"--", "*_test.go", "*test/*.go", "*/testdata/*", "*/step_*.go", ":(exclude)" + e.file}
	changed, err := git(p.root, slices.Concat([]string{"diff", "--name-only", "-z", "--no-renames", book}, patterns)...)
	if err != nil {
		return nil, err
	}
	added, err := git(p.root, slices.Concat([]string{"ls-files", "-z", "--others", "--exclude-standard"}, patterns)...)
	if err != nil {
		return nil, err
	}
	for _, name := range strings.FieldsFunc(changed+added, func(r rune) bool { return r == 0 }) {
		texts[name], _ = git(p.root, "show", book+":"+name) // on an error, the book has no such file
	}
	return texts, p.addOthers(e, texts)
}

// addOthers adds the files of the other exercises that are open, with the book's code there.
func (p *practice) addOthers(e exercise, texts map[string]string) error {
	ours, err := e.versions(p.root)
	if err != nil {
		return err
	}
	files := map[string]versions{}
	for _, other := range p.inState(p.all, open) {
		v, err := other.versions(p.root)
		if err != nil {
			return err
		}
		if other.file == e.file {
			v.names = slices.DeleteFunc(v.names, func(name string) bool { return slices.Contains(ours.names, name) })
		}
		v.names = append(v.names, files[other.file].names...)
		files[other.file] = v
	}
	for file, v := range files {
		had, beside := textsOf(v.mine), placesBeside(p.root, file)
		v.names = slices.DeleteFunc(v.names, func(name string) bool { return had[name] == "" && beside[name] != "" })
		if _, fromBook := texts[file]; fromBook || len(v.names) == 0 {
			continue
		}
		// If it is not valid Go, the compiler says so about the reader's own file.
		if text := withBooks(v.mine, v.book, v.names); syntaxError(file, text) == nil {
			texts[file] = text
		}
	}
	return nil
}
