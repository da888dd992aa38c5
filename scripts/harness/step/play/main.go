// A chapter as a program: its command line, and what Main does with its steps.

package play

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"example.com/informer/scripts/harness/workspace"
)

// The exit codes of a chapter.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// Main runs the chapter as the command line asks, and exits: 0 when all went well, 1 when a step
// failed or did not do as its transcript says, 2 when the command line is wrong, 130 on Ctrl-C. The
// first Ctrl-C, or the end of the terminal, ends the steps' context; a second one ends the program at once.
func Main(c Chapter) {
	signal.Ignore(syscall.SIGPIPE) // a reader that left must not keep a step from cleaning up
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as with nohup
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	context.AfterFunc(ctx, stop)
	os.Exit(c.run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is Main without the process around it.
func (c Chapter) run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	r := c.newRunner(stdout, stderr)
	names, err := r.parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		return exitUsage // the flag package has said what is wrong
	case r.list:
		r.printSteps(stdout)
		return exitOK
	}
	selected, err := r.choose(names)
	if err != nil {
		var all []string
		for _, step := range c.Steps {
			all = append(all, step.Name)
		}
		fmt.Fprintf(stderr, "%s: %v\nthe steps are: %s\n", c.Name, err, strings.Join(all, ", "))
		return exitUsage
	}
	if r.pause || r.follow {
		r.input = readLines(ctx, stdin)
	}
	good := 0
	for _, step := range selected {
		err := r.run(ctx, step)
		if ctx.Err() != nil && !r.follow {
			fmt.Fprintf(stderr, "%s: stopped\n", c.Name)
			return exitInterrupted
		}
		if err != nil {
			fmt.Fprintf(stderr, "%s: step %s: %v\n", c.Name, step.Name, err)
			continue
		}
		good++
	}
	if r.check {
		fmt.Fprintf(stdout, "%s: %d of %d steps as expected\n", c.Name, good, len(selected))
	}
	if good < len(selected) {
		return exitFailed
	}
	return exitOK
}

// A runner runs the steps of a chapter as the command line says.
type runner struct {
	chapter        Chapter
	flags          *flag.FlagSet
	input          <-chan string // lines that the user types, if there is a use for them
	stdout, stderr io.Writer

	list, check, update, pause, follow bool
	patience                           time.Duration
}

func (c Chapter) newRunner(stdout, stderr io.Writer) *runner {
	flags := flag.NewFlagSet(c.Name, flag.ContinueOnError)
	r := &runner{chapter: c, flags: flags, stdout: stdout, stderr: stderr}
	flags.SetOutput(stderr)
	flags.BoolVar(&r.list, "list", false, "name the steps and stop")
	flags.BoolVar(&r.check, "check", false, "show only what is not as in the transcripts (testdata/STEP.txt)")
	flags.BoolVar(&r.update, "update", false, "write the transcripts anew, with what comes now")
	flags.DurationVar(&r.patience, "patience", quiet,
		"how `long` to wait for a line that does not come; a slow machine needs more")
	flags.BoolVar(&r.pause, "pause", false, "wait for Enter before each command of a transcript")
	flags.BoolVar(&r.follow, "follow", false, "run one step until Ctrl-C, and say what to try in another terminal")
	if c.Flags != nil {
		c.Flags(flags)
	}
	flags.Usage = func() {
		fmt.Fprintf(stderr, "%s: %s\n\nusage: go run ./%s [FLAGS] [STEP]\n\n"+
			"Without a STEP, all steps run in this order:\n", c.Name, c.Title, c.Name)
		r.printSteps(stderr)
		fmt.Fprintln(stderr, "\nFlags:")
		flags.PrintDefaults()
	}
	return r
}

func (r *runner) printSteps(w io.Writer) {
	for _, step := range r.chapter.Steps {
		fmt.Fprintf(w, "  %-10s %s\n", step.Name, step.Title)
	}
}

// parse returns what is not a flag. Flags may stand before and after the step.
func (r *runner) parse(args []string) (names []string, err error) {
	for err = r.flags.Parse(args); err == nil && r.flags.NArg() > 0; err = r.flags.Parse(args) {
		names, args = append(names, r.flags.Arg(0)), r.flags.Args()[1:]
	}
	return names, err
}

// choose returns the steps to run, or what is wrong with the command line.
func (r *runner) choose(names []string) ([]Step, error) {
	switch {
	case r.follow && len(names) != 1:
		return nil, errors.New("-follow wants the name of one step")
	case r.follow && (r.check || r.update || r.pause):
		return nil, errors.New("-follow goes without -check, -update and -pause")
	case r.check && (r.update || r.pause):
		return nil, errors.New("-check goes without -update and -pause")
	case len(names) > 1:
		return nil, fmt.Errorf("one step at a time, please: got %q", names)
	case len(names) == 0:
		return r.chapter.Steps, nil
	}
	i := r.chapter.index(names[0])
	if i < 0 {
		return nil, fmt.Errorf("there is no step %q%s", names[0], r.chapter.hint(names[0]))
	}
	return r.chapter.Steps[i : i+1], nil
}

// index is the place of a step in the chapter, or -1.
func (c Chapter) index(name string) int {
	return slices.IndexFunc(c.Steps, func(s Step) bool { return s.Name == name })
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

func (r *runner) run(ctx context.Context, s Step) error {
	show := func(line string) { fmt.Fprintln(r.stdout, line) }
	if r.check {
		show = func(string) {}
	} else {
		r.heading(s)
	}
	defer func() {
		if !r.check && (ctx.Err() == nil || r.follow) {
			fmt.Fprint(r.stdout, r.chapter.where(s))
		}
	}()
	return r.chapter.perform(ctx, s, r.patience, show, func(p *player) error {
		if r.follow {
			return r.followStep(ctx, p)
		}
		p.update = r.update
		p.say = func(line string) { fmt.Fprintln(r.stderr, line) }
		if r.pause {
			fmt.Fprintln(r.stdout, "(Enter gives the command that is shown.)")
			p.pause = func(ctx context.Context) {
				select {
				case <-r.input:
				case <-ctx.Done():
				}
			}
		}
		got, err := p.play(ctx)
		if err != nil || !r.update {
			return err
		}
		return r.write(s, got)
	})
}

// heading announces a step; it is not part of the step's output.
func (r *runner) heading(s Step) {
	fmt.Fprintf(r.stdout, "\n== %s %d/%d %s: %s\n",
		r.chapter.Name, r.chapter.index(s.Name)+1, len(r.chapter.Steps), s.Name, s.Title)
	if s.Fold {
		fmt.Fprintln(r.stdout, "(A line that comes several times in a row counts once.)")
	}
}

// write writes the transcript anew, into the workspace.
func (r *runner) write(s Step, got transcript) error {
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
