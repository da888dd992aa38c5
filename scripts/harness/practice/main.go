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
	"strings"
	"syscall"

	"example.com/informer/scripts/harness/spelling"
	"example.com/informer/scripts/harness/workspace"
)

const usage = `usage: scripts/practice.sh                 where you are, and what is next
       scripts/practice.sh list            all exercises: which are open, which are solved;
                                           with -json, for a program
       scripts/practice.sh next            the exercise that is open, or starts the next one
       scripts/practice.sh start NAME      makes the folder .practice/NAME, where you work, and says what to do
       scripts/practice.sh check [NAME]    runs the tests and steps of the open exercises, or of one
       scripts/practice.sh watch [NAME]    checks whenever you save; without a name, it goes on to the next one
       scripts/practice.sh hint [NAME]     one hint; there are three
       scripts/practice.sh solution [NAME] from your code to the book's, and why
       scripts/practice.sh reset NAME      the start of an exercise again; it says how yours comes back
       scripts/practice.sh keep NAME       brings your solution into the files of the clone
       scripts/practice.sh help            this text
`

var commandNames = strings.Fields("list next start check watch hint solution reset keep help")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := runInWorkspace(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "practice:", err)
		os.Exit(1)
	}
}

// runInWorkspace runs a command in the clone of the working directory.
func runInWorkspace(ctx context.Context, args []string, out io.Writer) error {
	root, err := workspace.Clone(".")
	if err != nil {
		return err
	}
	return run(ctx, root, args, out)
}

// A practice is what the commands work with.
type practice struct {
	root    string
	gitDir  string
	command string     // and its target, as the lock says
	all     []exercise // in the order of the book
	state   progress
	out     io.Writer
}

func (p *practice) printf(format string, args ...any) { fmt.Fprintf(p.out, format, args...) }

// run runs a command, in the clone at root.
func run(ctx context.Context, root string, args []string, out io.Writer) error {
	name, target := "", "" // of the command, and what it is for
	switch {
	case len(args) > 2:
		return fmt.Errorf("%q are too many arguments\n%s", args, usage)
	case len(args) == 2:
		name, target = args[0], args[1]
	case len(args) == 1:
		name = args[0]
	}
	if slices.Contains([]string{"help", "-h", "-help", "--help"}, name) {
		_, err := fmt.Fprint(out, usage)
		return err
	}
	all, err := load(root)
	if err != nil {
		return err
	}
	gitDir, err := findGit(root)
	if err != nil {
		return err
	}
	p := &practice{root: root, gitDir: gitDir, command: strings.Join(args, " "), all: all, out: out}
	if err := p.readState(); err != nil {
		return err
	}
	switch name {
	case "", "list", "next":
		if name == "list" && target == "-json" {
			return p.listJSON()
		}
		if target != "" {
			return fmt.Errorf("%s takes no name\n%s", name, usage)
		}
		return p.overview(name)
	case "start", "reset", "keep":
		if target == "" {
			return fmt.Errorf("%s: the NAME of an exercise is missing\n%s", name, usage)
		}
	case "watch":
		if target == "" {
			return p.watchAll(ctx)
		}
	case "check", "hint", "solution":
	default:
		return fmt.Errorf("%s: no such command%s\n%s", name, spelling.DidYouMean(name, commandNames), usage)
	}
	chosen, err := p.choose(target)
	if err != nil {
		return err
	}
	switch name {
	case "check":
		return p.check(ctx, chosen)
	case "watch":
		return p.watch(ctx, chosen[0])
	}
	do := map[string]func(exercise) error{
		"start": p.start, "hint": p.hint, "solution": p.solution, "reset": p.reset, "keep": p.keep,
	}[name]
	return p.alone(func() error { return do(chosen[0]) })
}

// overview runs a command that is about all exercises.
func (p *practice) overview(command string) error {
	switch command {
	case "list":
		p.list()
		return nil
	case "next":
		return p.alone(p.next)
	default:
		p.status()
		return nil
	}
}

// choose returns the exercise of this name. Without a name, it returns the one whose folder the reader
// is in, or those that are open.
func (p *practice) choose(name string) ([]exercise, error) {
	if name == "" {
		if here := p.in(os.Getenv("PRACTICE_FROM")); len(here) > 0 {
			return here, nil
		}
		if opened := p.inState(open); len(opened) > 0 {
			return opened, nil
		}
		return nil, errors.New("no exercise is open: scripts/practice.sh next")
	}
	var names []string
	for _, e := range p.all {
		if e.name == name {
			return []exercise{e}, nil
		}
		names = append(names, e.name)
	}
	return nil, fmt.Errorf("no exercise is called %s%s\nscripts/practice.sh list has their names", name,
		spelling.DidYouMean(name, names))
}

// in returns the exercise with this folder, or with a folder above it.
func (p *practice) in(dir string) []exercise {
	root, err := workspace.Root(dir)
	if dir == "" || err != nil {
		return nil
	}
	return filter(p.all, func(e exercise) bool { return isSame(root, p.place(e)) })
}
