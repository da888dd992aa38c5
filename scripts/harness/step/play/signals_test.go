// Tests of the signals that end a chapter.

package play

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"example.com/informer/scripts/harness/must"
)

// runChapter runs a chapter, and exits. Its one step cleans up at its end.
func runChapter() {
	transcript := "$ go run ./99-toy one\nhere\n> never\n"
	c := Chapter{Name: "99-toy", Files: fstest.MapFS{"testdata/one.txt": {Data: []byte(transcript)}}}
	c.Steps = []Step{{Name: "one", Run: func(ctx context.Context, env *Env) error {
		fmt.Fprintln(env.Out, "here")
		<-ctx.Done()
		fmt.Fprintln(os.Stderr, "cleaned up")
		return nil
	}}}
	Main(c)
}

// endChapter runs that chapter with these arguments, and sends it a signal when its step runs.
func endChapter(t *testing.T, sent os.Signal, args ...string) (stdout, stderr string) {
	t.Helper()
	cmd := must.Command(t, args...)
	var errs strings.Builder
	cmd.Stderr = &errs
	output, err := cmd.StdoutPipe()
	must.NoError(t, err)
	must.NoError(t, cmd.Start())
	for lines := bufio.NewScanner(output); lines.Scan(); {
		stdout += lines.Text() + "\n"
		if line := lines.Text(); line == "here" || line == `{"event":"line","n":1,"text":"here"}` {
			must.NoError(t, cmd.Process.Signal(sent))
		}
	}
	_ = cmd.Wait() // the exit code is checked
	if code := cmd.ProcessState.ExitCode(); code != exitInterrupted {
		t.Errorf("%v: exit code %d, want %d", sent, code, exitInterrupted)
	}
	return stdout, errs.String()
}

// A step cleans up whether the user types Ctrl-C, closes the terminal, or ends the program.
func TestAStepCleansUpWhenItIsEnded(t *testing.T) {
	// Under nohup, this test ignores SIGHUP. A process that it starts would inherit this.
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	for _, sent := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		_, stderr := endChapter(t, sent)
		wantContains(t, fmt.Sprintf("stderr after %v", sent), stderr, "cleaned up")
		stdout, stderr := endChapter(t, sent, "-json")
		wantContains(t, fmt.Sprintf("stderr after %v with -json", sent), stderr, "cleaned up")
		if want := `{"event":"end","verdict":"stopped"}` + "\n"; !strings.HasSuffix(stdout, want) {
			t.Errorf("stdout after %v with -json is\n%s\nwant at its end %s", sent, stdout, want)
		}
	}
}
