// A chapter as a program: what Main does with its steps.

package play

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"example.com/informer/scripts/harness/workspace"
)

// The exit codes of a chapter.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// Main runs the chapter as the command line asks, and exits: 0 when all went
// well, 1 when a step failed or did not do as its transcript says, 2 when the
// command line is wrong, 130 on Ctrl-C. The first Ctrl-C ends the steps'
// context; a second one ends the program at once.
func Main(c Chapter) {
	signal.Ignore(syscall.SIGPIPE) // a reader that left must not keep a step from cleaning up
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	os.Exit(c.run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is Main without the process around it.
func (c Chapter) run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	line := c.commandLine(stderr)
	selected, code, ok := line.parse(args, stdout)
	if !ok {
		return code
	}
	r := runner{commandLine: line, stdout: stdout}
	if *line.pause || *line.follow {
		r.input = readLines(ctx, stdin)
	}
	good := 0
	for _, step := range selected {
		err := r.run(ctx, step)
		if ctx.Err() != nil && !*line.follow {
			fmt.Fprintf(stderr, "%s: stopped\n", c.Name)
			return exitInterrupted
		}
		if err != nil {
			fmt.Fprintf(stderr, "%s: step %s: %v\n", c.Name, step.Name, err)
			continue
		}
		good++
	}
	if *line.check {
		fmt.Fprintf(stdout, "%s: %d of %d steps as expected\n", c.Name, good, len(selected))
	}
	if good < len(selected) {
		return exitFailed
	}
	return exitOK
}

// A runner runs the steps as the command line says.
type runner struct {
	*commandLine
	input  <-chan string // lines that the user types, if there is a use for them
	stdout io.Writer
}

// readLines gives the lines of a reader until ctx ends: a read cannot be
// interrupted, but nobody has to wait for it.
func readLines(ctx context.Context, from io.Reader) <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		for scanner := bufio.NewScanner(from); scanner.Scan(); {
			select {
			case lines <- scanner.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	return lines
}

func (r runner) run(ctx context.Context, s Step) (err error) {
	show := func(line string) { fmt.Fprintln(r.stdout, line) }
	if *r.check {
		show = func(string) {}
	} else {
		r.heading(s)
	}
	stage, err := r.chapter.stage(ctx, s, show)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stage.close(ctx)) }()
	if *r.follow {
		return stage.explain(r.followStep(ctx, stage))
	}
	stage.player.update = *r.update
	stage.player.say = func(line string) { fmt.Fprintln(r.flags.Output(), line) }
	if *r.pause {
		fmt.Fprintln(r.stdout, "(Enter gives the command that is shown.)")
		stage.player.pause = func(ctx context.Context) {
			select {
			case <-r.input:
			case <-ctx.Done():
			}
		}
	}
	got, err := stage.player.play(ctx)
	if err != nil {
		return stage.explain(err)
	}
	if *r.update {
		return r.write(s, got)
	}
	if err := differenceError(stage.player.want, got); err != nil {
		return fmt.Errorf("%w\nif it is right as it is now: go run ./%s %s -update", err, r.chapter.Name, s.Name)
	}
	return nil
}

// heading announces a step; it is not part of the step's output.
func (r runner) heading(step Step) {
	for i, s := range r.chapter.Steps {
		if s.Name == step.Name {
			fmt.Fprintf(r.stdout, "\n== %s %d/%d %s: %s\n",
				r.chapter.Name, i+1, len(r.chapter.Steps), step.Name, step.Title)
			if step.Fold {
				fmt.Fprintln(r.stdout, "(A line that comes several times in a row counts once.)")
			}
		}
	}
}

// write writes the transcript anew, into the workspace.
func (r runner) write(s Step, got transcript) error {
	if err := got.writable(); err != nil {
		return err
	}
	root, err := workspace.Root(".")
	if err != nil {
		return err
	}
	file := filepath.Join(root, r.chapter.Name, "testdata", s.Name+".txt")
	if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
		return fmt.Errorf("writing the transcript anew: %w", err)
	}
	fmt.Fprintln(r.stdout, "written:", file)
	return nil
}
