// How a chapter ends when its terminal is closed.

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

// asChapter makes the test's binary a chapter, whose one step cleans up at its end.
const asChapter = "RUN_CHAPTER"

// runChapter is what the binary is then.
func runChapter() {
	os.Args = os.Args[:1]
	c := Chapter{Name: "99-toy", Files: fstest.MapFS{"testdata/one.txt": {Data: []byte("$ go run ./99-toy one\nhere\n" +
		"> never\n")}}}
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
		must.Do(t, err)
		cmd := exec.CommandContext(t.Context(), program)
		cmd.Env = append(os.Environ(), asChapter+"=1")
		var said strings.Builder
		cmd.Stderr = &said
		output, err := cmd.StdoutPipe()
		must.Do(t, err)
		must.Do(t, cmd.Start())
		for lines := bufio.NewScanner(output); lines.Scan(); {
			if lines.Text() == "here" {
				must.Do(t, cmd.Process.Signal(signal))
			}
		}
		_ = cmd.Wait()
		code := cmd.ProcessState.ExitCode()
		if code != exitInterrupted || !strings.Contains(said.String(), "cleaned up") {
			t.Errorf("%v: got exit code %d, and it said %q; want %d and that it has cleaned up", signal, code, &said,
				exitInterrupted)
		}
	}
}
