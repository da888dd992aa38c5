package steps

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// toy is a chapter whose steps print their names; the step "bad" fails.
func toy() Chapter {
	says := func(text string) func(context.Context, io.Writer) error {
		return func(_ context.Context, out io.Writer) error {
			_, err := fmt.Fprintln(out, text)
			return err
		}
	}
	return Chapter{
		Name:  "99-toy",
		Title: "a chapter for tests",
		Steps: []Step{
			{Name: "one", Title: "the first", Run: says("un")},
			{Name: "two", Title: "the second", Run: says("deux")},
		},
	}
}

func failing() Chapter {
	c := toy()
	c.Steps[0].Run = func(context.Context, io.Writer) error { return errors.New("out of pods") }
	return c
}

func run(ctx context.Context, c Chapter, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = c.run(ctx, args, &out, &errs)
	return code, out.String(), errs.String()
}

func TestCommandLine(t *testing.T) {
	withFlags := toy()
	var text string
	withFlags.Flags = func(fs *flag.FlagSet) { fs.StringVar(&text, "text", "", "a flag of the chapter's own") }

	for _, test := range []struct {
		name           string
		chapter        Chapter
		args           []string
		code           int
		stdout, stderr string
	}{
		{"all steps in order", toy(), nil, 0,
			"\n== 99-toy 1/2 one: the first\nun\n\n== 99-toy 2/2 two: the second\ndeux\n", ""},
		{"one step", toy(), []string{"two"}, 0, "\n== 99-toy 2/2 two: the second\ndeux\n", ""},
		{"list", toy(), []string{"-list"}, 0, "  one        the first\n  two        the second\n", ""},
		{"a step that fails ends the run", failing(), nil, 1,
			"\n== 99-toy 1/2 one: the first\n", "99-toy: step one: out of pods\n"},
		{"unknown step", toy(), []string{"three"}, 2, "",
			"99-toy: there is no step \"three\"\nthe steps are: one, two\n"},
		{"two steps", toy(), []string{"one", "two"}, 2, "",
			"99-toy: one step at a time, please, and flags before it: got [\"one\" \"two\"]\nthe steps are: one, " +
				"two\n"},
		{"a flag of the chapter", withFlags, []string{"-text", "x", "one"}, 0, "\n== 99-toy 1/2 one: the first\nun\n",
			""},
	} {
		t.Run(test.name, func(t *testing.T) {
			code, stdout, stderr := run(t.Context(), test.chapter, test.args...)
			if code != test.code || stdout != test.stdout || stderr != test.stderr {
				t.Errorf("got exit code %d\nstdout: %q\nstderr: %q\nwant exit code %d\nstdout: %q\nstderr: %q",
					code, stdout, stderr, test.code, test.stdout, test.stderr)
			}
		})
	}
	if text != "x" {
		t.Errorf("the chapter's own flag is %q, want %q", text, "x")
	}
}

func TestHelpNamesStepsAndFlags(t *testing.T) {
	code, _, stderr := run(t.Context(), toy(), "-h")
	if code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
	for _, want := range []string{"a chapter for tests", "go run ./99-toy [FLAGS] [STEP]", "the second", "-list",
		"-check"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("help lacks %q:\n%s", want, stderr)
		}
	}
	if strings.Contains(stderr, "-follow") {
		t.Errorf("help offers -follow, which this chapter does not have:\n%s", stderr)
	}
}

func TestUnknownFlagIsWrongUsage(t *testing.T) {
	code, _, stderr := run(t.Context(), toy(), "-nonsense")
	if code != 2 || !strings.Contains(stderr, "-nonsense") || !strings.Contains(stderr, "the first") {
		t.Errorf("exit code %d, stderr %q; want 2, the flag and the steps", code, stderr)
	}
}

func TestInterruptEndsTheRun(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := toy()
	c.Steps[0].Run = func(ctx context.Context, _ io.Writer) error {
		cancel() // as Ctrl-C would
		<-ctx.Done()
		return ctx.Err()
	}
	for _, args := range [][]string{nil, {"-check"}} {
		code, stdout, stderr := run(ctx, c, args...)
		if code != 130 || strings.Contains(stdout, "deux") || stderr != "99-toy: stopped\n" {
			t.Errorf("%v: exit code %d, stdout %q, stderr %q; want 130, no second step, one line",
				args, code, stdout, stderr)
		}
	}
}

func TestFollowRunsInsteadOfTheSteps(t *testing.T) {
	c := toy()
	c.Follow = func(_ context.Context, out io.Writer) error {
		_, err := fmt.Fprintln(out, "watching")
		return err
	}
	for _, more := range []string{"-check", "one"} {
		if code, _, stderr := run(t.Context(), c, "-follow", more); code != 2 ||
			!strings.Contains(stderr, "-follow goes alone") {
			t.Errorf("-follow %s: exit code %d, stderr %q; want 2 and the reason", more, code, stderr)
		}
	}
	if code, stdout, stderr := run(t.Context(), c, "-follow"); code != 0 || stdout != "watching\n" {
		t.Errorf("exit code %d, stdout %q, stderr %q; want 0 and only %q", code, stdout, stderr, "watching\n")
	}
}

// workspaceWith makes a workspace with expected outputs for the toy chapter
// and moves the test there.
func workspaceWith(t *testing.T, outputs map[string]string) {
	t.Helper()
	root := t.TempDir()
	testdata := filepath.Join(root, "99-toy", "testdata")
	if err := os.MkdirAll(testdata, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range outputs {
		if err := os.WriteFile(filepath.Join(testdata, name+".txt"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "go.work"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Chdir(root)
}

func TestCheckComparesEveryStep(t *testing.T) {
	workspaceWith(t, map[string]string{"one": "un\n", "two": "deux\n"})
	code, stdout, stderr := run(t.Context(), toy(), "-check")
	if code != 0 || !strings.HasSuffix(stdout, "\n99-toy: 2 of 2 steps as expected\n") || stderr != "" {
		t.Errorf("exit code %d, stdout %q, stderr %q; want 0 and both steps as expected", code, stdout, stderr)
	}
}

func TestCheckGoesOnAfterADifference(t *testing.T) {
	workspaceWith(t, map[string]string{"one": "uno\n"}) // and nothing for two
	code, stdout, stderr := run(t.Context(), toy(), "-check")
	if code != 1 || !strings.HasSuffix(stdout, "\n99-toy: 0 of 2 steps as expected\n") {
		t.Errorf("exit code %d, stdout %q; want 1 and no step as expected", code, stdout)
	}
	for _, want := range []string{`step one: the output differs at line 1`, `expected: "uno"`, `printed:  "un"`,
		"step two: reading the expected output"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("stderr lacks %q:\n%s", want, stderr)
		}
	}
}

func TestDiffFoldsRepeatsAndNothingElse(t *testing.T) {
	for _, test := range []struct {
		want, got string
		same      bool
	}{
		{"a\nb\n", "a\na\na\nb\n", true},
		{"a\na\nb\n", "a\nb\n", true},
		{"a\nb\na\n", "a\nb\n", false},
		{"a\nb\n", "b\na\n", false},
		{"a\n", "a \n", false},
		{"a\n", "", false},
	} {
		if diff := difference(test.want, test.got); (diff == "") != test.same {
			t.Errorf("difference(%q, %q) = %q; want same: %v", test.want, test.got, diff, test.same)
		}
	}
}
