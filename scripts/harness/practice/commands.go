// The commands: list, start, check, watch, hint, solution and reset.

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pmezard/go-difflib/difflib"
)

// list prints the exercises by chapter, and how much of the course the reader has written.
func list(_ context.Context, root string, all []exercise, out io.Writer) error {
	chapter := ""
	functions, written, fixed := 0, 0, 0
	for _, e := range all {
		if e.chapter != chapter {
			chapter = e.chapter
			fmt.Fprintf(out, "\n%s\n", chapter)
		}
		state := e.state(root)
		functions += len(e.empty)
		if state == solved {
			written += len(e.empty)
			if e.kind == fix {
				fixed++
			}
		}
		fmt.Fprintf(out, "  %-7s %-5s %-16s %s %s\n", state, e.kind, e.name, e.title, e.needs)
	}
	_, err := fmt.Fprintf(out, "\n%d of the %d functions to build are yours; %d bugs are fixed\n",
		written, functions, fixed)
	return err
}

// link matches a link to a page of the course.
var link = regexp.MustCompile(`\[([^]]+)\]\((?:\.\./)*([^)]+)\)`)

// start changes the exercise's file, and remembers the commit that has the book's code.
func start(root string, e exercise, out io.Writer) error {
	if e.state(root) == open {
		return fmt.Errorf("%s is open already: scripts/practice.sh check, or reset %[1]s", e.name)
	}
	if changed, err := git(root, "status", "--porcelain", "--", e.file); changed != "" || err != nil {
		return errors.Join(err, fmt.Errorf("%s has changes that are not committed: commit them first", e.file))
	}
	v, err := e.versions(root)
	if err != nil {
		return err
	}
	if err := e.write(root, v.mine, v.book, v.started, open); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s\n\nYours: %s\nThen:  scripts/practice.sh check %s (or: watch, hint)\n"+
		"Do not look at git diff, or at your editor's marks of changed lines: they show the answer.\n",
		link.ReplaceAllString(e.task, "$1 ($2)"), e.file, e.name)
	return err
}

// write applies the change between two versions to the exercise's file, and sets the state of the
// exercise.
func (e exercise) write(root, mine, from, to, state string) error {
	text, err := merge(mine, from, to)
	if err != nil {
		return err
	}
	if err := e.setState(root, state); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, e.file), []byte(text), 0o666)
}

// hint prints the next hint. The last hint comes again and again.
func hint(root string, e exercise, out io.Writer) error {
	given := e.hintsGiven(root)
	n := min(given+1, len(e.hints))
	fmt.Fprintf(out, "Hint %d of %d: %s\n", n, len(e.hints), e.hints[n-1])
	_, err := git(root, "config", "--local", e.hintsKey(), strconv.Itoa(n))
	return err
}

// hintsKey is the key in git's configuration for the number of hints that were given.
func (e exercise) hintsKey() string { return "practice." + e.name + ".hints" }

// hintsGiven returns how many hints were given.
func (e exercise) hintsGiven(root string) int {
	text, err := git(root, "config", "--local", e.hintsKey())
	if err != nil {
		return 0 // none was given yet
	}
	given, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil {
		return 0 // somebody else has written it
	}
	return given
}

// solution shows the difference between the reader's code and the book's, and explains the book's.
func solution(root string, e exercise, out io.Writer) error {
	v, err := e.versions(root)
	if err != nil {
		return err
	}
	if e.state(root) == untouched {
		return fmt.Errorf("%s was not started: scripts/practice.sh start %[1]s", e.name)
	}
	books, err := merge(v.mine, v.started, v.book)
	if err != nil {
		return err
	}
	difference, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		A:        difflib.SplitLines(v.mine),
		B:        difflib.SplitLines(books),
		FromFile: "yours",
		ToFile:   "the book's",
		Context:  3,
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s\n%s\n", cmp.Or(difference, "Your code is the book's.\n"), e.why)
	return err
}

// reset puts the book's code back.
func reset(root string, e exercise, out io.Writer) error {
	v, err := e.versions(root)
	if err != nil {
		return err
	}
	if err := e.write(root, v.mine, v.started, v.book, untouched); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s has the book's code again where the exercise was\n", e.file)
	return err
}

// check checks each exercise, and prints whether it is solved.
func check(ctx context.Context, root string, named []exercise, out io.Writer) error {
	failed := 0
	for _, e := range named {
		ok, err := isSolved(ctx, root, e, out)
		if err != nil {
			return err
		}
		if !ok {
			failed++
			continue
		}
		if e.state(root) == untouched {
			return fmt.Errorf("%s is not started; the book's code passes", e.name)
		}
		fmt.Fprintf(out, "%s: solved. `scripts/practice.sh solution %[1]s` has the book's code, and says why\n", e.name)
		if err := e.setState(root, solved); err != nil {
			return err
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d not solved yet", failed, len(named))
	}
	return nil
}

// watch checks the exercises whenever a file of one of them was saved, until all are solved.
func watch(ctx context.Context, root string, named []exercise, out io.Writer) error {
	const lookEvery = 300 * time.Millisecond
	var checked time.Time // when the last check began
	for ctx.Err() == nil {
		if savedAfter(root, named, checked) {
			checked = time.Now()
			err := check(ctx, root, named, out)
			if err == nil || ctx.Err() != nil {
				return nil
			}
			fmt.Fprintf(out, "%v; save a file to check again, Ctrl-C ends\n\n", err)
		}
		time.Sleep(lookEvery)
	}
	return nil
}

// savedAfter reports whether a file of the exercises was saved after this time.
func savedAfter(root string, named []exercise, t time.Time) bool {
	return slices.ContainsFunc(named, func(e exercise) bool {
		info, err := os.Stat(filepath.Join(root, e.file))
		return err == nil && info.ModTime().After(t)
	})
}
