// Command practice lets the reader write or fix parts of the course's own code, and checks them
// with the course's own tests and transcripts.
//
//	scripts/practice.sh list
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"

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
	if len(os.Args) == 2 && slices.Contains([]string{"-h", "-help", "--help", "help"}, os.Args[1]) {
		fmt.Print(usage)
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := runInWorkspace(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "practice:", err)
		os.Exit(1)
	}
}

// runInWorkspace runs a command in the workspace of the working directory.
func runInWorkspace(ctx context.Context, args []string, out io.Writer) error {
	root, err := workspace.Root(".")
	if err != nil {
		return err
	}
	return run(ctx, root, args, out)
}

// commandsForAll are the commands that work on several exercises: on the one that is named, or on
// all (list) or all open ones (the others).
var commandsForAll = map[string]func(ctx context.Context, root string, all []exercise, out io.Writer) error{
	"list":  list,
	"check": check,
	"watch": watch,
}

// commandsForOne are the commands that need the name of an exercise.
var commandsForOne = map[string]func(root string, e exercise, out io.Writer) error{
	"start":    start,
	"hint":     hint,
	"solution": solution,
	"reset":    reset,
}

// run runs a command, in the workspace at root.
func run(ctx context.Context, root string, args []string, out io.Writer) error {
	if len(args) == 0 || len(args) > 2 {
		return fmt.Errorf("which command?\n%s", usage)
	}
	command := args[0]
	forAll, forOne := commandsForAll[command], commandsForOne[command]
	if forAll == nil && forOne == nil {
		return fmt.Errorf("%s: no such command\n%s", command, usage)
	}
	all, err := load(root)
	if err != nil {
		return err
	}
	selected, err := choose(root, all, args)
	switch {
	case err != nil:
		return err
	case forAll != nil:
		return forAll(ctx, root, selected, out)
	case len(args) == 1:
		return fmt.Errorf("%s: its NAME is missing\n%s", command, usage)
	default:
		return forOne(root, selected[0], out)
	}
}

// choose returns the exercises that a command line means: the one that it names, all for list, else
// the open ones.
func choose(root string, all []exercise, args []string) ([]exercise, error) {
	if len(args) == 2 {
		name := args[1]
		named := filter(all, func(e exercise) bool { return e.name == name })
		if len(named) == 0 {
			return nil, fmt.Errorf("no exercise is called %s; scripts/practice.sh list has their names", name)
		}
		return named, nil
	}
	if args[0] == "list" {
		return all, nil
	}
	opened := filter(all, func(e exercise) bool { return e.state(root) == open })
	if len(opened) == 0 {
		return nil, errors.New("no exercise is open: scripts/practice.sh start NAME")
	}
	return opened, nil
}
