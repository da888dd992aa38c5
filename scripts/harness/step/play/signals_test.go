// Tests of the signals that end a chapter.

package play

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"example.com/informer/scripts/harness/must"
)

// asChapter is the environment variable that makes the test's binary a chapter. Its one step cleans
// up at its end.
const asChapter = "RUN_CHAPTER"

// runChapter runs that chapter, and exits.
func runChapter() {
	os.Args = os.Args[:1]
	transcript := "$ go run ./99-toy one\nhere\n> never\n"
	c := Chapter{Name: "99-toy", Files: fstest.MapFS{"testdata/one.txt": {Data: []byte(transcript)}}}
	c.Steps = []Step{{Name: "one", Run: func(ctx context.Context, l *Lesson) error {
		fmt.Fprintln(l.Out, "here")
		<-ctx.Done()
		fmt.Fprintln(os.Stderr, "cleaned up")
		return nil
	}}}
	Main(c)
}

// A step cleans up whether the user types Ctrl-C, closes the terminal, or ends the program.
func TestAStepCleansUpWhenItIsEnded(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		program, err := os.Executable()
		must.NoError(t, err)
		cmd := exec.CommandContext(t.Context(), program)
		cmd.Env = append(os.Environ(), asChapter+"=1")
		var stderr strings.Builder
		cmd.Stderr = &stderr
		output, err := cmd.StdoutPipe()
		must.NoError(t, err)
		must.NoError(t, cmd.Start())
		for lines := bufio.NewScanner(output); lines.Scan(); {
			if lines.Text() == "here" {
				must.NoError(t, cmd.Process.Signal(signal))
			}
		}
		_ = cmd.Wait() // the exit code is checked
		if code := cmd.ProcessState.ExitCode(); code != exitInterrupted {
			t.Errorf("%v: exit code %d, want %d", signal, code, exitInterrupted)
		}
		wantContains(t, fmt.Sprintf("stderr after %v", signal), stderr.String(), "cleaned up")
	}
}
