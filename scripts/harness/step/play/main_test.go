// The command line of a chapter, and what comes of it.

package play

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"example.com/informer/scripts/harness/expect"
)

// toy is a chapter of two steps that print one word each.
func toy() Chapter {
	one, two := says("un"), says("deux")
	one.Name, one.Title = "one", "the first"
	two.Name, two.Title = "two", "the second"
	return Chapter{
		Name:  "99-toy",
		Title: "a chapter for tests",
		Steps: []Step{one, two},
		Files: fstest.MapFS{
			"testdata/one.txt": {Data: []byte("un\n")},
			"testdata/two.txt": {Data: []byte("deux\n")},
		},
	}
}

func TestCommandLine(t *testing.T) {
	failing := toy()
	failing.Steps[0].Run = func(context.Context, *Lesson) error { return errors.New("out of pods") }
	withFlags := toy()
	var text string
	withFlags.Flags = func(fs *flag.FlagSet) { fs.StringVar(&text, "text", "", "a flag of the chapter's own") }

	const bothSteps = "\n== 99-toy 1/2 one: the first\nun\n\n== 99-toy 2/2 two: the second\ndeux\n"
	const names = "\nthe steps are: one, two\n"
	for _, test := range []struct {
		name           string
		chapter        Chapter
		args           string
		code           int
		stdout, stderr string
	}{
		{"all steps in order", toy(), "", 0, bothSteps, ""},
		{"one step", toy(), "two", 0, "\n== 99-toy 2/2 two: the second\ndeux\n", ""},
		{"list", toy(), "-list", 0, "  one        the first\n  two        the second\n", ""},
		{"check", toy(), "-check", 0, "99-toy: 2 of 2 steps as expected\n", ""},
		{"check, after the step", toy(), "two -check", 0, "99-toy: 1 of 1 steps as expected\n", ""},
		{"a step that fails does not keep the next from running", failing, "", 1,
			"\n== 99-toy 1/2 one: the first\n\n== 99-toy 2/2 two: the second\ndeux\n",
			"99-toy: step one: out of pods\n"},
		{"unknown step", toy(), "three", 2, "", "99-toy: there is no step \"three\"" + names},
		{"two steps", toy(), "one two", 2, "", "99-toy: one step at a time, please: got [\"one\" \"two\"]" + names},
		{"follow which", toy(), "-follow", 2, "", "99-toy: -follow wants the name of one step" + names},
		{"follow and check", toy(), "-follow one -check", 2, "",
			"99-toy: -follow goes without -check, -update and -pause" + names},
		{"check and update", toy(), "-check -update", 2, "", "99-toy: -check goes without -update and -pause" + names},
		{"a flag of the chapter", withFlags, "-text x one", 0, "\n== 99-toy 1/2 one: the first\nun\n", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var code int
			var stdout, stderr string
			synctest.Test(t, func(t *testing.T) {
				code, stdout, stderr = run(t.Context(), test.chapter, "", strings.Fields(test.args)...)
			})
			expect.That(t, code == test.code && stdout == test.stdout && stderr == test.stderr,
				"got exit code %d\nstdout: %q\nstderr: %q\nwant exit code %d\nstdout: %q\nstderr: %q",
				code, stdout, stderr, test.code, test.stdout, test.stderr)
		})
	}
	expect.That(t, text == "x", "the chapter's own flag is %q, want %q", text, "x")
}

func TestADifferenceIsShown(t *testing.T) {
	c := toy()
	c.Steps[0].Run = says("uno").Run
	for args, stdout := range map[string]string{
		"-check": "99-toy: 1 of 2 steps as expected\n",
		"one":    "\n== 99-toy 1/2 one: the first\nuno\n",
	} {
		var code int
		var out, stderr string
		synctest.Test(t, func(t *testing.T) { code, out, stderr = run(t.Context(), c, "", args) })
		expect.That(t, code == 1 && out == stdout && strings.Contains(stderr, "-un\n+uno\n"),
			"%s: exit code %d\nstdout: %q\nstderr: %q", args, code, out, stderr)
	}
}

// On a slow machine a line may come late.
func TestPatience(t *testing.T) {
	late := Step{Run: func(_ context.Context, l *Lesson) error {
		time.Sleep(30 * time.Second)
		fmt.Fprintln(l.Out, "late")
		return nil
	}}
	for args, want := range map[string]int{"toy": exitFailed, "toy -patience 1m": exitOK} {
		synctest.Test(t, func(t *testing.T) {
			c := chapterOf(late, "late\n")
			code, _, stderr := run(t.Context(), c, "", strings.Fields(args)...)
			if code != want {
				t.Errorf("%s: got exit code %d, want %d\n%s", args, code, want, stderr)
			}
		})
	}
}
