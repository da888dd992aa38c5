// Package steps runs a chapter of the course: all of its steps in order, or
// the one that is named on the command line.
package steps

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"example.com/informer/01-deltafifo/workspace"
)

// A Step is one idea: a short program with an output to read.
type Step struct {
	Name  string // one word, as typed on the command line
	Title string // one line, shown above the output
	Run   func(ctx context.Context, out io.Writer) error
}

// A Chapter is a list of steps in reading order.
type Chapter struct {
	Name  string // the chapter's folder, such as "01-deltafifo"
	Title string
	Steps []Step

	// Flags, if set, adds the chapter's own flags.
	Flags func(*flag.FlagSet)

	// Follow, if set, adds the flag -follow: it runs instead of the steps,
	// until Ctrl-C ends its context.
	Follow func(ctx context.Context, out io.Writer) error
}

// The exit codes of a chapter.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// Main runs the chapter as the command line asks, and exits: 0 when all went
// well, 1 when a step failed, 2 when the command line is wrong, 130 on Ctrl-C.
// The first Ctrl-C ends the steps' context; a second one ends the program at once.
func Main(c Chapter) {
	signal.Ignore(syscall.SIGPIPE) // a reader that left must not keep a step from cleaning up
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	os.Exit(c.run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is Main without the process around it.
func (c Chapter) run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	line := c.commandLine(stderr)
	selected, code, ok := line.parse(args, stdout)
	if !ok {
		return code
	}
	if *line.follow {
		return c.exitCode(ctx, c.Follow(ctx, stdout), stderr)
	}
	if *line.check {
		return c.check(ctx, selected, stdout, stderr)
	}
	for _, step := range selected {
		c.heading(step, stdout)
		if err := step.Run(ctx, stdout); err != nil {
			return c.exitCode(ctx, fmt.Errorf("step %s: %w", step.Name, err), stderr)
		}
	}
	return exitOK
}

// exitCode reports err, if any, in one line. An error after Ctrl-C is not
// worth reading: the user asked for it.
func (c Chapter) exitCode(ctx context.Context, err error, stderr io.Writer) int {
	switch {
	case err == nil:
		return exitOK
	case ctx.Err() != nil:
		fmt.Fprintf(stderr, "%s: stopped\n", c.Name)
		return exitInterrupted
	default:
		fmt.Fprintf(stderr, "%s: %v\n", c.Name, err)
		return exitFailed
	}
}

// heading announces a step; it is not part of the step's output.
func (c Chapter) heading(step Step, stdout io.Writer) {
	for i, s := range c.Steps {
		if s.Name == step.Name {
			fmt.Fprintf(stdout, "\n== %s %d/%d %s: %s\n", c.Name, i+1, len(c.Steps), step.Name, step.Title)
		}
	}
}

// expected is the file that holds the step's expected output.
func (c Chapter) expected(step Step) (string, error) {
	root, err := workspace.Root(".")
	if err != nil {
		return "", err
	}
	return filepath.Join(root, c.Name, "testdata", step.Name+".txt"), nil
}
