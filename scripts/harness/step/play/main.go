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
	p, err := r.chapter.newPlayer(ctx, s, show)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.close(ctx)) }()
	if *r.follow {
		return p.explain(r.followStep(ctx, p))
	}
	p.update = *r.update
	p.say = func(line string) { fmt.Fprintln(r.flags.Output(), line) }
	if *r.pause {
		fmt.Fprintln(r.stdout, "(Enter gives the command that is shown.)")
		p.pause = func(ctx context.Context) {
			select {
			case <-r.input:
			case <-ctx.Done():
			}
		}
	}
	got, err := p.play(ctx)
	if err != nil {
		return p.explain(err)
	}
	if *r.update {
		return r.write(s, got)
	}
	if err := differenceError(p.want, got); err != nil {
		return fmt.Errorf("%w\nif it is right as it is now: go run ./%s %s -update", err, r.chapter.Name, s.Name)
	}
	return nil
}

// heading announces a step; it is not part of the step's output.
func (r runner) heading(step Step) {
	i := slices.IndexFunc(r.chapter.Steps, func(s Step) bool { return s.Name == step.Name })
	fmt.Fprintf(r.stdout, "\n== %s %d/%d %s: %s\n", r.chapter.Name, i+1, len(r.chapter.Steps), step.Name, step.Title)
	if step.Fold {
		fmt.Fprintln(r.stdout, "(A line that comes several times in a row counts once.)")
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

type commandLine struct {
	chapter Chapter
	flags   *flag.FlagSet

	list, check, update, pause, follow *bool
}

func (c Chapter) commandLine(stderr io.Writer) *commandLine {
	flags := flag.NewFlagSet(c.Name, flag.ContinueOnError)
	flags.SetOutput(stderr)
	line := &commandLine{
		chapter: c,
		flags:   flags,
		list:    flags.Bool("list", false, "name the steps and stop"),
		check:   flags.Bool("check", false, "show only what is not as in the transcripts (testdata/STEP.txt)"),
		update:  flags.Bool("update", false, "write the transcripts anew, with what comes now"),
		pause:   flags.Bool("pause", false, "wait for Enter before each command of a transcript"),
		follow: flags.Bool("follow", false,
			"run one step until Ctrl-C, and say what to try in another terminal"),
	}
	if c.Flags != nil {
		c.Flags(flags)
	}
	flags.Usage = line.usage
	return line
}

// parse returns the steps to run. When there is nothing more to do, ok is
// false and code is the exit code. Flags may stand before and after the step.
func (l *commandLine) parse(args []string, stdout io.Writer) (selected []Step, code int, ok bool) {
	var names []string
	for {
		switch err := l.flags.Parse(args); {
		case errors.Is(err, flag.ErrHelp):
			return nil, exitOK, false
		case err != nil:
			return nil, exitUsage, false // the flag package has said what is wrong
		}
		if l.flags.NArg() == 0 {
			break
		}
		names, args = append(names, l.flags.Arg(0)), l.flags.Args()[1:]
	}
	if *l.list {
		l.printSteps(stdout)
		return nil, exitOK, false
	}
	switch {
	case *l.follow && len(names) != 1:
		return nil, l.wrong("-follow wants the name of one step"), false
	case *l.follow && (*l.check || *l.update || *l.pause):
		return nil, l.wrong("-follow goes without -check, -update and -pause"), false
	case *l.check && (*l.update || *l.pause):
		return nil, l.wrong("-check goes without -update and -pause"), false
	case len(names) == 0:
		return l.chapter.Steps, exitOK, true
	case len(names) > 1:
		return nil, l.wrong("one step at a time, please: got %q", names), false
	}
	if i := slices.IndexFunc(l.chapter.Steps, func(s Step) bool { return s.Name == names[0] }); i >= 0 {
		return l.chapter.Steps[i : i+1], exitOK, true
	}
	return nil, l.wrong("there is no step %q", names[0]), false
}

// wrong reports a command line that cannot be followed, with the steps there are.
func (l *commandLine) wrong(format string, args ...any) int {
	var names []string
	for _, step := range l.chapter.Steps {
		names = append(names, step.Name)
	}
	fmt.Fprintf(l.flags.Output(), "%s: %s\nthe steps are: %s\n",
		l.chapter.Name, fmt.Sprintf(format, args...), strings.Join(names, ", "))
	return exitUsage
}

func (l *commandLine) usage() {
	w := l.flags.Output()
	fmt.Fprintf(w, "%s: %s\n\nusage: go run ./%s [FLAGS] [STEP]\n\nWithout a STEP, all steps run in this order:\n",
		l.chapter.Name, l.chapter.Title, l.chapter.Name)
	l.printSteps(w)
	fmt.Fprintln(w, "\nFlags:")
	l.flags.PrintDefaults()
}

func (l *commandLine) printSteps(w io.Writer) {
	for _, step := range l.chapter.Steps {
		fmt.Fprintf(w, "  %-10s %s\n", step.Name, step.Title)
	}
}
