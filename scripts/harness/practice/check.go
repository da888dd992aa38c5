// Checking an exercise with the book's tests and steps.

package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"example.com/informer/scripts/harness/hunk"
)

// check checks exercises, and prints whether they are solved.
func (p *practice) check(ctx context.Context, chosen []exercise) error {
	failed := 0
	for _, e := range chosen {
		if err := p.alone(func() error { return p.prepare(e) }); err != nil {
			return err
		}
		ok, err := p.isSolved(ctx, e)
		if err != nil {
			return err
		}
		judged := p.reopen
		if ok {
			judged = p.solve
		} else {
			failed++
		}
		if err := p.alone(func() error { return judged(e) }); err != nil {
			return err
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d not solved yet; scripts/practice.sh hint gives a hint", failed, len(chosen))
	}
	return nil
}

// reopen makes a solved exercise open again, because its check has failed.
func (p *practice) reopen(e exercise) error {
	if p.stateOf(e) != solved {
		return nil
	}
	p.printf("%s was solved, and is open again.\n", e.name)
	return p.remember(e, func(r *record) { r.Passed = false })
}

// solve makes an exercise solved, and says what comes now.
func (p *practice) solve(e exercise) error {
	if err := p.remember(e, func(r *record) { r.Passed, r.Solved = true, true }); err != nil {
		return err
	}
	p.printf("\n%s: solved. ", e.name)
	p.printf("That makes %d of %d.\n", len(filter(p.all, p.wasSolved)), len(p.all))
	book, _ := git(p.root, "show", p.state.Exercises[e.name].Book+":"+e.file) // without it, no section is named
	if place := e.explanation(p.root, book); e.kind == fix && place != "" {
		p.printf("Read now:    %s explains it\n", place)
	}
	p.printf("Compare:     scripts/practice.sh solution %s has the book's code, and says why\n", e.name)
	if e.kind == write {
		p.printf("Keep:        scripts/practice.sh keep %s lets the steps of the clone run on your code\n", e.name)
	}
	p.printNext()
	return nil
}

// isSolved runs the commands of an exercise in its folder, and prints all that fails.
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
	overlay, err := hunk.Overlay(p.place(e), dir, texts)
	if err != nil {
		return false, err
	}
	p.printf("%s: %s\n", e.name, p.findPlaces(e)[0].File)
	c := newChecker(p.place(e), dir, overlay, p.out)
	c.root = p.root
	failures, err := c.runAll(ctx, e.checks, 0)
	return len(failures) == 0, err
}

// booksFiles returns the files that a check takes from the book, in the place of the reader's: each
// test, transcript and step that the reader has changed, except for the file of the exercise. An empty
// text means that the book has no such file.
func (p *practice) booksFiles(e exercise) (texts map[string]string, err error) {
	changed, err := p.changed(e, "*_test.go", "*test/*.go", "*/testdata/*", "*/step_*.go", ":(exclude)"+e.file)
	texts = map[string]string{}
	for _, name := range changed {
		texts[name], _ = git(p.root, "show", p.state.Exercises[e.name].Start+":"+name) // on an error, it has none
	}
	return texts, err
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
