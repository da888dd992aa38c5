// Package steptest tests a chapter: its steps against their transcripts, with
// somebody who presses Ctrl-C, and as a program.
package steptest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/step/play"
)

// quiet is how long a step may print nothing: the machine may be busy.
const quiet = time.Minute

// A Chapter is a play.Chapter or a step.Chapter.
type Chapter interface{ Played() play.Chapter }

// Run plays every step of the chapter as a parallel subtest. With -short, those that need a cluster
// are left out. It also fails for a transcript that belongs to no step.
func Run(t *testing.T, chapter Chapter) {
	c := chapter.Played()
	each(t, c, func(t *testing.T, s play.Step) {
		skipShort(t, c, s)
		t.Parallel()
		check(t, c, s)
	})
}

// RunInFakeTime is Run for steps that take their time and talk to nobody: each runs in a bubble of
// testing/synctest, where waiting takes no time, and they run one after the other.
func RunInFakeTime(t *testing.T, chapter Chapter) {
	c := chapter.Played()
	each(t, c, func(t *testing.T, s play.Step) {
		synctest.Test(t, func(t *testing.T) { check(t, c, s) })
	})
}

func each(t *testing.T, c play.Chapter, test func(*testing.T, play.Step)) {
	files, err := fs.Glob(c.Files, "testdata/*.txt")
	must.Do(t, err)
	transcripts := sets.New(files...)
	for _, s := range c.Steps {
		file := "testdata/" + s.Name + ".txt"
		expect.That(t, transcripts.Has(file),
			"there is no %s: write it with go run ./%s -update %s", file, c.Name, s.Name)
		transcripts.Delete(file)
		t.Run(s.Name, func(t *testing.T) { test(t, s) })
	}
	expect.That(t, len(transcripts) <= 0, "transcripts of no step, to be removed: %v", transcripts.UnsortedList())
}

func skipShort(t *testing.T, c play.Chapter, s play.Step) {
	if c.NeedsCluster(s) && testing.Short() {
		t.Skip("needs a cluster")
	}
}

func check(t *testing.T, c play.Chapter, s play.Step) {
	t.Helper()
	var shown strings.Builder
	err := c.Check(t.Context(), s, quiet, func(line string) { fmt.Fprintln(&shown, line) })
	expect.That(t, err == nil, "%v\nall of it:\n%s", err, &shown)
}

// EndsOnCtrlC runs the step of that name to Ctrl-C at the first line that it shows and at the second,
// as parallel subtests. It is TestMain that sees whether something is left running.
func EndsOnCtrlC(t *testing.T, chapter Chapter, name string) {
	c := chapter.Played()
	s := c.Steps[slices.IndexFunc(c.Steps, func(s play.Step) bool { return s.Name == name })]
	skipShort(t, c, s)
	for nth := 1; nth <= 2; nth++ {
		t.Run(fmt.Sprintf("%s, line %d", s.Name, nth), func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			lines := 0
			err := c.Check(ctx, s, quiet, func(string) {
				if lines++; lines == nth {
					cancel()
				}
			})
			expect.That(t, ctx.Err() != nil && errors.Is(err, context.Canceled),
				"it showed %d lines, and ended with %v", lines, err)
			cancel()
		})
	}
}

// Env is set in the environment of a process that is to run the chapter
// instead of its tests.
const Env = "RUN_CHAPTER"

// Program is for TestMain to call first: where Env is set, it runs the
// chapter's main and does not return.
func Program(main func()) {
	if os.Getenv(Env) != "" {
		main()
		os.Exit(0)
	}
}

// Command is the chapter as a program, which the end of the test kills.
func Command(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	must.Do(t, err)
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Env = append(os.Environ(), Env+"=1")
	return cmd
}

// Outside is Command in a folder outside the workspace, with an environment
// that names no cluster.
func Outside(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	cmd := Command(t, args...)
	cmd.Dir = t.TempDir()
	cmd.Env = []string{Env + "=1", "HOME=" + cmd.Dir}
	return cmd
}

// WantExit runs the program, wants this exit code, and on stderr each text in
// one or two lines: nothing at all if the code is 0. It returns what is there.
func WantExit(t testing.TB, cmd *exec.Cmd, code int, texts ...string) (stderr string) {
	t.Helper()
	var said bytes.Buffer
	cmd.Stderr = &said
	err := cmd.Run()
	stderr = said.String()
	got := cmd.ProcessState.ExitCode()
	expect.That(t, got == code, "exit code %d, want %d (%v)", got, code, err)
	if lines := strings.Count(stderr, "\n"); lines > 2 || (lines == 0) != (code == 0) {
		t.Errorf("%d lines on stderr, want one or two, and none if all is well", lines)
	}
	for _, text := range texts {
		expect.That(t, strings.Contains(stderr, text), "stderr lacks %q", text)
	}
	if t.Failed() {
		t.Logf("%q:\n%s", cmd.Args[1:], stderr)
	}
	return stderr
}

// ReadLines runs the program, calls see with each line that it prints, and
// returns its exit code.
func ReadLines(t testing.TB, cmd *exec.Cmd, see func(line string)) (code int) {
	t.Helper()
	cmd.Stderr = t.Output()
	stdout, err := cmd.StdoutPipe()
	must.Do(t, err)
	must.Do(t, cmd.Start())
	for scanner := bufio.NewScanner(stdout); scanner.Scan(); {
		t.Log(scanner.Text())
		see(scanner.Text())
	}
	_ = cmd.Wait() // the exit code says it all
	return cmd.ProcessState.ExitCode()
}
