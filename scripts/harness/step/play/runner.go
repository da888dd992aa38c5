// The runner: it runs the steps of a chapter as the command line says.

package play

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"example.com/informer/scripts/harness/step/manifest"
	"example.com/informer/scripts/harness/workspace"
)

// A runner runs the steps of a chapter as the command line says.
type runner struct {
	chapter        Chapter
	flags          *flag.FlagSet
	input          <-chan string // lines that the user types; nil without -pause and -follow
	stdout, stderr io.Writer

	list, check, update, pause, follow, json bool
	patience                                 time.Duration
}

func (c Chapter) newRunner(stdout, stderr io.Writer) *runner {
	flags := flag.NewFlagSet(c.Name, flag.ContinueOnError)
	r := &runner{chapter: c, flags: flags, stdout: stdout, stderr: stderr}
	flags.SetOutput(stderr)
	flags.BoolVar(&r.list, "list", false, "name the steps and stop")
	flags.BoolVar(&r.check, "check", false, "show only what is not as in the transcripts (testdata/STEP.txt)")
	flags.BoolVar(&r.update, "update", false,
		"write the transcripts again, with what comes now; with -list, only "+manifest.File)
	flags.DurationVar(&r.patience, "patience", defaultPatience,
		"how `long` to wait for a line that does not come; a slow machine needs more")
	flags.BoolVar(&r.pause, "pause", false, "wait for Enter before each command of a transcript")
	flags.BoolVar(&r.follow, "follow", false, "run one step until Ctrl-C, and say what to try in another terminal")
	flags.BoolVar(&r.json, "json", false, "write what happens as JSON, an event a line, for another program")
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

// parse parses the flags, and returns the other arguments. Flags may stand before and after the
// step.
func (r *runner) parse(args []string) (names []string, err error) {
	for {
		if err := r.flags.Parse(args); err != nil {
			return nil, err
		}
		if r.flags.NArg() == 0 {
			return names, nil
		}
		names = append(names, r.flags.Arg(0))
		args = r.flags.Args()[1:]
	}
}

// choose returns the steps to run, or an error if the command line is wrong.
func (r *runner) choose(names []string) ([]Step, error) {
	switch {
	case len(names) > 1:
		return nil, fmt.Errorf("one step at a time, please: got %q", names)
	case r.follow && len(names) == 0:
		return nil, errors.New("-follow wants the name of one step")
	case r.follow && (r.check || r.update || r.pause):
		return nil, errors.New("-follow goes without -check, -update and -pause")
	case r.check && (r.update || r.pause):
		return nil, errors.New("-check goes without -update and -pause")
	case r.json && (r.check || r.update):
		return nil, errors.New("-json goes without -check and -update")
	case len(names) == 0:
		return r.chapter.Steps, nil
	}
	i := r.chapter.index(names[0])
	if i < 0 {
		return nil, fmt.Errorf("there is no step %q%s", names[0], hint(names[0]))
	}
	return r.chapter.Steps[i : i+1], nil
}

// run runs a step, and reports it as the flags say.
func (r *runner) run(ctx context.Context, s Step) error {
	report := r.text(s)
	if r.json {
		report = writeJSON(r.stdout)
	}
	report = oneAtATime(report)
	report(r.chapter.begin(s))
	err := r.chapter.perform(ctx, s, r.patience, report, func(p *player) error { return r.play(ctx, p) })
	report(end(err, ctx.Err() != nil && !r.follow))
	return err
}

// play plays a step as the flags say.
func (r *runner) play(ctx context.Context, p *player) error {
	if r.follow {
		return r.followStep(ctx, p)
	}
	p.update = r.update
	if r.pause {
		if !r.json {
			p.report(event{Event: noteEvent, Text: "(Enter gives the command that is shown.)"})
		}
		p.pause = func(ctx context.Context) {
			p.report(event{Event: waitEvent, For: forEnter})
			r.waitForEnter(ctx)
		}
	}
	got, err := p.play(ctx)
	if err != nil || !r.update {
		return err
	}
	return r.writeTranscript(p.step, got)
}

// waitForEnter waits until the user has typed a line, or ctx ends.
func (r *runner) waitForEnter(ctx context.Context) {
	select {
	case <-r.input:
	case <-ctx.Done():
	}
}

// text returns a reporter that writes the events of a step for a person.
func (r *runner) text(s Step) reporter {
	var begin event
	transcript := showTranscript(func(line string) { fmt.Fprintln(r.stdout, line) })
	if r.check {
		transcript = func(event) {}
	}
	return func(e event) {
		switch e.Event {
		case beginEvent:
			begin = e
			r.heading(s)
		case noteEvent:
			fmt.Fprintln(r.stdout, e.Text)
		case warningEvent:
			fmt.Fprintln(r.stderr, e.Text)
		case waitEvent:
			if e.For == forLine && !r.follow {
				fmt.Fprintf(r.stderr, "(waiting for: %s)\n", e.Text)
			}
		case endEvent:
			r.ending(begin, e)
		default:
			transcript(e)
		}
	}
}

// heading prints the heading of a step, which is not part of the step's output.
func (r *runner) heading(s Step) {
	if r.check {
		return
	}
	fmt.Fprintf(r.stdout, "\n== %s %d/%d %s: %s\n",
		r.chapter.Name, r.chapter.index(s.Name)+1, len(r.chapter.Steps), s.Name, s.Title)
	if s.Fold {
		fmt.Fprintln(r.stdout, "(A line that comes several times in a row counts once.)")
	}
}

// ending prints where a step is that has ended, and its error.
func (r *runner) ending(begin, end event) {
	if end.Verdict == isStopped {
		fmt.Fprintf(r.stderr, "%s: stopped\n", begin.Chapter)
		return
	}
	if !r.check {
		fmt.Fprint(r.stdout, where(begin))
	}
	if end.err != nil {
		fmt.Fprintf(r.stderr, "%s: step %s: %v\n", begin.Chapter, begin.Step, end.err)
	}
}

// writeTranscript writes a new transcript into the workspace, and the manifest if that changes.
func (r *runner) writeTranscript(s Step, got transcript) error {
	if err := got.checkWritable(); err != nil {
		return err
	}
	if err := r.write(filepath.Join(r.chapter.Name, "testdata", s.Name+".txt"), got.String()); err != nil {
		return err
	}
	return r.writeManifest()
}

func (r *runner) write(name, text string) error {
	root, err := workspace.Root(".")
	if err != nil {
		return err
	}
	file := filepath.Join(root, name)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		return err
	}
	fmt.Fprintln(r.stdout, "written:", file)
	return nil
}
