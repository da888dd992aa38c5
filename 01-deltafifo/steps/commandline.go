// The command line that every chapter has: which steps to run, and how.

package steps

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
)

type commandLine struct {
	chapter Chapter
	flags   *flag.FlagSet
	list    *bool
	check   *bool
	follow  *bool
}

func (c Chapter) commandLine(stderr io.Writer) commandLine {
	flags := flag.NewFlagSet(c.Name, flag.ContinueOnError)
	flags.SetOutput(stderr)
	line := commandLine{
		chapter: c,
		flags:   flags,
		list:    flags.Bool("list", false, "name the steps and stop"),
		check:   flags.Bool("check", false, "compare what the steps print with what is expected (testdata/STEP.txt)"),
		follow:  new(bool),
	}
	if c.Follow != nil {
		line.follow = flags.Bool("follow", false, "keep watching until Ctrl-C, and say what to try in another terminal")
	}
	if c.Flags != nil {
		c.Flags(flags)
	}
	flags.Usage = line.usage
	return line
}

// parse returns the steps to run. When there is nothing more to do, ok is
// false and code is the exit code.
func (l commandLine) parse(args []string, stdout io.Writer) (selected []Step, code int, ok bool) {
	switch err := l.flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return nil, exitOK, false
	case err != nil:
		return nil, exitUsage, false // the flag package has said what is wrong
	}
	if *l.list {
		l.printSteps(stdout)
		return nil, exitOK, false
	}
	if *l.follow && (*l.check || l.flags.NArg() > 0) {
		return nil, l.wrong("-follow goes alone, without -check and without a step"), false
	}
	switch l.flags.NArg() {
	case 0:
		return l.chapter.Steps, exitOK, true
	case 1:
		for _, step := range l.chapter.Steps {
			if step.Name == l.flags.Arg(0) {
				return []Step{step}, exitOK, true
			}
		}
		return nil, l.wrong("there is no step %q", l.flags.Arg(0)), false
	default:
		return nil, l.wrong("one step at a time, please, and flags before it: got %q", l.flags.Args()), false
	}
}

// wrong reports a command line that cannot be followed, with the steps there are.
func (l commandLine) wrong(format string, args ...any) int {
	var names []string
	for _, step := range l.chapter.Steps {
		names = append(names, step.Name)
	}
	fmt.Fprintf(l.flags.Output(), "%s: %s\nthe steps are: %s\n",
		l.chapter.Name, fmt.Sprintf(format, args...), strings.Join(names, ", "))
	return exitUsage
}

func (l commandLine) usage() {
	w := l.flags.Output()
	fmt.Fprintf(w, "%s: %s\n\nusage: go run ./%s [FLAGS] [STEP]\n\nWithout a STEP, all steps run in this order:\n",
		l.chapter.Name, l.chapter.Title, l.chapter.Name)
	l.printSteps(w)
	fmt.Fprintln(w, "\nFlags:")
	l.flags.PrintDefaults()
}

func (l commandLine) printSteps(w io.Writer) {
	for _, step := range l.chapter.Steps {
		fmt.Fprintf(w, "  %-10s %s\n", step.Name, step.Title)
	}
}
