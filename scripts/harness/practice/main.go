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
       scripts/practice.sh start NAME      changes the file of an exercise, and says what to do;
                                           with the number of a chapter (01), all of its exercises
       scripts/practice.sh check [NAME]    runs the tests and steps of the open exercises, or of one
       scripts/practice.sh watch [NAME]    checks whenever you save; without a name, it goes on to the next one
       scripts/practice.sh hint [NAME]     one hint; there are three
       scripts/practice.sh solution [NAME] from your code to the book's, and why
       scripts/practice.sh reset NAME      puts the book's code back, and keeps yours
       scripts/practice.sh mine NAME       brings your own version back
       scripts/practice.sh help            this text
`

var commandNames = strings.Fields("list next start check watch hint solution reset mine help")

func main() {
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

// A practice is what the commands work with.
type practice struct {
	root string
	all  []exercise // in the order of the book
	out  io.Writer
}

func (p *practice) printf(format string, args ...any) { fmt.Fprintf(p.out, format, args...) }

// run runs a command, in the workspace at root.
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
	p := &practice{root: root, all: all, out: out}
	switch name {
	case "", "list", "next":
		if name == "list" && target == "-json" {
			return p.listJSON()
		}
		if target != "" {
			return fmt.Errorf("%s takes no name\n%s", name, usage)
		}
		return p.overview(name)
	case "start", "reset", "mine":
		return alone(root, func() error { return p.change(name, target) })
	case "check", "watch", "hint", "solution":
		return p.help(ctx, name, target)
	default:
		return fmt.Errorf("%s: no such command%s\n%s", name, spelling.DidYouMean(name, commandNames), usage)
	}
}

// overview runs a command that is about all exercises.
func (p *practice) overview(command string) error {
	switch command {
	case "list":
		p.list()
		return nil
	case "next":
		return alone(p.root, p.next)
	default:
		p.status()
		return nil
	}
}

// change runs a command that changes the reader's files.
func (p *practice) change(command, target string) error {
	if target == "" {
		return fmt.Errorf("%s: the NAME of an exercise is missing\n%s", command, usage)
	}
	named, err := p.named(target)
	if err != nil {
		return err
	}
	if command == "start" && len(named) > 1 {
		return p.startChapter(named)
	}
	if command == "reset" && len(named) > 1 {
		named = slices.DeleteFunc(named, func(e exercise) bool { return p.state(e) == untouched })
	}
	do := map[string]func(exercise) error{"start": p.start, "reset": p.reset, "mine": p.mine}[command]
	for _, e := range named {
		if err := do(e); err != nil {
			return err
		}
	}
	return nil
}

// help runs a command that helps with exercises that were started. Without a name, hint and
// solution are for the first exercise that is open, and check is for all that are open.
func (p *practice) help(ctx context.Context, command, target string) error {
	if command == "watch" && target == "" {
		return p.watchAll(ctx)
	}
	chosen := p.inState(p.all, open)
	if target != "" {
		var err error
		if chosen, err = p.named(target); err != nil {
			return err
		}
		if len(chosen) > 1 { // a chapter
			chosen = slices.DeleteFunc(chosen, func(e exercise) bool { return p.state(e) == untouched })
		}
	}
	if len(chosen) == 0 {
		return errors.New("no exercise is open: scripts/practice.sh next")
	}
	switch command {
	case "check":
		return p.check(ctx, chosen)
	case "watch":
		return p.watch(ctx, chosen[0])
	case "hint":
		return p.hint(chosen[0])
	default:
		return p.solution(chosen[0])
	}
}

// named returns the exercise of this name, or the exercises of the chapter with this number.
func (p *practice) named(target string) ([]exercise, error) {
	named := filter(p.all, func(e exercise) bool {
		return e.name == target || e.chapter == target || e.chapter[:2] == target
	})
	if len(named) == 0 {
		var names []string
		for _, e := range p.all {
			names = append(names, e.name)
		}
		return nil, fmt.Errorf("no exercise is called %s%s\nscripts/practice.sh list has their names", target,
			spelling.DidYouMean(target, names))
	}
	return named, nil
}
