// Tests of the command line of a chapter.

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
)

// toy returns a chapter of two steps that print one word each.
func toy() Chapter {
	first, second := says("un"), says("deux")
	first.Name, first.Title = "one", "the first"
	second.Name, second.Title = "two", "the second"
	return Chapter{
		Name:  "99-toy",
		Title: "a chapter for tests",
		Steps: []Step{first, second},
		Files: fstest.MapFS{
			"testdata/one.txt": {Data: []byte("un\n")},
			"testdata/two.txt": {Data: []byte("deux\n")},
		},
	}
}

func TestCommandLine(t *testing.T) {
	failing := toy()
	failing.Steps[0].Run = func(context.Context, *Env) error { return errors.New("out of pods") }
	withFlags := toy()
	var text string
	withFlags.Flags = func(fs *flag.FlagSet) { fs.StringVar(&text, "text", "", "a flag of the chapter's own") }

	const bothSteps = "\n== 99-toy 1/2 one: the first\nun\n\n== 99-toy 2/2 two: the second\ndeux\n"
	const names = "\nthe steps are: one, two\n"
	for _, test := range []struct {
		name    string
		chapter Chapter
		args    string
		code    int
		stdout  string
		stderr  string
	}{
		{name: "all steps in order", chapter: toy(), stdout: bothSteps},
		{name: "one step", chapter: toy(), args: "two", stdout: "\n== 99-toy 2/2 two: the second\ndeux\n"},
		{name: "list", chapter: toy(), args: "-list", stdout: "  one        the first\n  two        the second\n"},
		{name: "check", chapter: toy(), args: "-check", stdout: "99-toy: 2 of 2 steps as expected\n"},
		{
			name: "check, after the step", chapter: toy(), args: "two -check",
			stdout: "99-toy: 1 of 1 steps as expected\n",
		},
		{
			name: "the next step runs after a step that fails", chapter: failing, code: exitFailed,
			stdout: "\n== 99-toy 1/2 one: the first\n\n== 99-toy 2/2 two: the second\ndeux\n",
			stderr: "99-toy: step one: out of pods\n",
		},
		{
			name: "unknown step", chapter: toy(), args: "three", code: exitUsage,
			stderr: "99-toy: there is no step \"three\"" + names,
		},
		{
			name: "two steps", chapter: toy(), args: "one two", code: exitUsage,
			stderr: "99-toy: one step at a time, please: got [\"one\" \"two\"]" + names,
		},
		{
			name: "follow without a step", chapter: toy(), args: "-follow", code: exitUsage,
			stderr: "99-toy: -follow wants the name of one step" + names,
		},
		{
			name: "follow and check", chapter: toy(), args: "-follow one -check", code: exitUsage,
			stderr: "99-toy: -follow goes without -check, -update and -pause" + names,
		},
		{
			name: "check and update", chapter: toy(), args: "-check -update", code: exitUsage,
			stderr: "99-toy: -check goes without -update and -pause" + names,
		},
		{
			name: "json and check", chapter: toy(), args: "-json -check", code: exitUsage,
			stderr: "99-toy: -json goes without -check and -update" + names,
		},
		{
			name: "a flag of the chapter", chapter: withFlags, args: "-text x one",
			stdout: "\n== 99-toy 1/2 one: the first\nun\n",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			var code int
			var stdout, stderr string
			synctest.Test(t, func(t *testing.T) {
				code, stdout, stderr = run(t.Context(), test.chapter, "", strings.Fields(test.args)...)
			})
			wantCode(t, code, test.code, stderr)
			if stdout != test.stdout {
				t.Errorf("stdout is %q\nwant      %q", stdout, test.stdout)
			}
			if stderr != test.stderr {
				t.Errorf("stderr is %q\nwant      %q", stderr, test.stderr)
			}
		})
	}
	if text != "x" {
		t.Errorf("the chapter's own flag is %q, want %q", text, "x")
	}
}

func TestHelpNamesStepsAndFlags(t *testing.T) {
	for arg, want := range map[string]int{"-h": exitOK, "-nonsense": exitUsage} {
		t.Run(arg, func(t *testing.T) {
			code, _, stderr := run(t.Context(), toy(), "", arg)
			wantCode(t, code, want, stderr)
			if want == exitUsage {
				wantContains(t, "stderr", stderr, arg)
			}
			for _, text := range []string{
				"a chapter for tests", "go run ./99-toy [FLAGS] [STEP]", "the second",
				"-list", "-check", "-follow", "-json", "-patience", "-pause", "-update",
			} {
				wantContains(t, "help", stderr, text)
			}
			if strings.Contains(stderr, "-kubeconfig") {
				t.Errorf("help has -kubeconfig, though the chapter needs no cluster:\n%s", stderr)
			}
		})
	}
}

func TestADifferenceIsShown(t *testing.T) {
	c := toy()
	c.Steps[0].Run = says("uno").Run
	for arg, wantStdout := range map[string]string{
		"-check": "99-toy: 1 of 2 steps as expected\n",
		"one":    "\n== 99-toy 1/2 one: the first\nuno\n",
	} {
		t.Run(arg, func(t *testing.T) {
			var code int
			var stdout, stderr string
			synctest.Test(t, func(t *testing.T) { code, stdout, stderr = run(t.Context(), c, "", arg) })
			wantCode(t, code, exitFailed, stderr)
			if stdout != wantStdout {
				t.Errorf("stdout is %q, want %q", stdout, wantStdout)
			}
			wantContains(t, "stderr", stderr, "-un\n+uno\n")
		})
	}
}

// On a slow machine a line may come late.
func TestPatience(t *testing.T) {
	late := Step{Run: func(_ context.Context, env *Env) error {
		time.Sleep(30 * time.Second)
		fmt.Fprintln(env.Out, "late")
		return nil
	}}
	for args, want := range map[string]int{"toy": exitFailed, "toy -patience 1m": exitOK} {
		synctest.Test(t, func(t *testing.T) {
			c := chapterOf(late, "late\n")
			code, _, stderr := run(t.Context(), c, "", strings.Fields(args)...)
			if code != want {
				t.Errorf("%s: exit code %d, want %d; stderr:\n%s", args, code, want, stderr)
			}
		})
	}
}
