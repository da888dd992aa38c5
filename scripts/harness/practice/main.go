// Command practice gives the course's own code to the reader to write or to fix,
// and checks it with the course's own tests and transcripts.
//
//	scripts/practice.sh list
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/pmezard/go-difflib/difflib"

	"example.com/informer/scripts/harness/workspace"
)

const usage = `usage: scripts/practice.sh list            all exercises: which are open, which are solved
       scripts/practice.sh start NAME      changes the file of an exercise, and says what to do
       scripts/practice.sh check [NAME]    runs the tests and steps of the open exercises, or of one
       scripts/practice.sh watch [NAME]    checks whenever you save
       scripts/practice.sh hint NAME       one hint; there are three
       scripts/practice.sh solution NAME   from your code to the book's, and why
       scripts/practice.sh reset NAME      puts the book's code back
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if len(os.Args) == 2 && slices.Contains([]string{"-h", "-help", "--help", "help"}, os.Args[1]) {
		fmt.Print(usage)
		return
	}
	root, err := workspace.Root(".")
	if err == nil {
		err = run(ctx, root, os.Args[1:], os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "practice:", err)
		os.Exit(1)
	}
}

// run is one command, in the workspace at root.
func run(ctx context.Context, root string, args []string, out io.Writer) error {
	if len(args) == 0 || len(args) > 2 {
		return fmt.Errorf("which command?\n%s", usage)
	}
	if !slices.Contains([]string{"list", "start", "check", "watch", "hint", "solution", "reset"}, args[0]) {
		return fmt.Errorf("%s: no such command\n%s", args[0], usage)
	}
	all, err := load(root)
	if err != nil {
		return err
	}
	named, command := all, args[0]
	if len(args) == 2 {
		named = filter(all, func(e exercise) bool { return e.name == args[1] })
	} else if command != "list" {
		named = filter(all, func(e exercise) bool { return e.state(root) == open })
	}
	switch {
	case len(named) == 0 && len(args) == 2:
		return fmt.Errorf("no exercise is called %s; scripts/practice.sh list has their names", args[1])
	case len(named) == 0:
		return errors.New("no exercise is open: scripts/practice.sh start NAME")
	}
	switch command {
	case "list":
		return list(root, named, out)
	case "check":
		return check(ctx, root, named, out)
	case "watch":
		return watch(ctx, root, named, out)
	}
	do := map[string]func(string, exercise, io.Writer) error{
		"start": start, "hint": hint, "solution": solution, "reset": reset,
	}[command]
	if len(args) == 1 {
		return fmt.Errorf("%s: its NAME is missing\n%s", command, usage)
	}
	return do(root, named[0], out)
}

func list(root string, all []exercise, out io.Writer) error {
	chapter, yours, functions, fixed := "", 0, 0, 0
	for _, e := range all {
		if e.chapter != chapter {
			chapter = e.chapter
			fmt.Fprintf(out, "\n%s\n", chapter)
		}
		state := e.state(root)
		functions += len(e.empty)
		if state == solved {
			yours += len(e.empty)
			fixed += min(1, len(e.plant))
		}
		fmt.Fprintf(out, "  %-7s %-5s %-16s %s %s\n", state, e.kind, e.name, e.title, e.needs)
	}
	_, err := fmt.Fprintf(out, "\n%d of the %d functions to build are yours; %d bugs are fixed\n",
		yours, functions, fixed)
	return err
}

var aLink = regexp.MustCompile(`\[([^]]+)\]\((?:\.\./)*([^)]+)\)`)

// start changes the exercise's file, and remembers the commit that has the book's code.
func start(root string, e exercise, out io.Writer) error {
	if e.state(root) == open {
		return fmt.Errorf("%s is open already: scripts/practice.sh check, or reset %[1]s", e.name)
	}
	if changed, err := git(root, "status", "--porcelain", "--", e.file); changed != "" || err != nil {
		return errors.Join(err, fmt.Errorf("%s has changes that are not committed: commit them first", e.file))
	}
	mine, book, started, err := e.versions(root)
	if err == nil {
		err = e.write(root, mine, book, started, open)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s\n\nYours: %s\nThen:  scripts/practice.sh check %s (or: watch, hint)\n"+
		"Do not look at git diff, or at your editor's marks of changed lines: they show the answer.\n",
		aLink.ReplaceAllString(e.task, "$1 ($2)"), e.file, e.name)
	return err
}

// write makes the change between two versions in the exercise's file.
func (e exercise) write(root, mine, from, to, state string) error {
	text, err := merge(mine, from, to)
	if err == nil {
		err = e.setState(root, state)
	}
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, e.file), []byte(text), 0o666)
}

func hint(root string, e exercise, out io.Writer) error {
	given, _ := git(root, "config", "--local", "practice."+e.name+".hints") // none yet is an error
	n := min(len(strings.TrimSpace(given)), len(e.hints)-1)
	fmt.Fprintf(out, "Hint %d of %d: %s\n", n+1, len(e.hints), e.hints[n])
	_, err := git(root, "config", "--local", "practice."+e.name+".hints", strings.Repeat("x", n+1))
	return err
}

// solution shows what would change if the book's code came back.
func solution(root string, e exercise, out io.Writer) error {
	mine, book, started, err := e.versions(root)
	if err != nil || e.state(root) == untouched {
		return cmp.Or(err, fmt.Errorf("%s was not started: scripts/practice.sh start %[1]s", e.name))
	}
	books, err := merge(mine, started, book)
	if err != nil {
		return err
	}
	difference, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		A: difflib.SplitLines(mine), B: difflib.SplitLines(books), FromFile: "yours", ToFile: "the book's", Context: 3,
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s\n%s\n", cmp.Or(difference, "Your code is the book's.\n"), e.why)
	return err
}

func reset(root string, e exercise, out io.Writer) error {
	mine, book, started, err := e.versions(root)
	if err == nil {
		err = e.write(root, mine, started, book, untouched)
	}
	if err == nil {
		fmt.Fprintf(out, "%s has the book's code again where the exercise was\n", e.file)
	}
	return err
}

// check says of each exercise whether it is solved.
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

// watch checks whenever the file of an exercise was saved, until all are solved.
func watch(ctx context.Context, root string, named []exercise, out io.Writer) error {
	for checked := (time.Time{}); ctx.Err() == nil; time.Sleep(300 * time.Millisecond) {
		saved := filter(named, func(e exercise) bool {
			info, err := os.Stat(filepath.Join(root, e.file))
			return err == nil && info.ModTime().After(checked)
		})
		if len(saved) == 0 {
			continue
		}
		checked = time.Now()
		err := check(ctx, root, named, out)
		if err == nil || ctx.Err() != nil {
			return nil
		}
		fmt.Fprintf(out, "%v; save a file to check again, Ctrl-C ends\n\n", err)
	}
	return nil
}
