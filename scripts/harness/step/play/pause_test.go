// What Enter and Ctrl-C do to a play.

package play

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"example.com/informer/scripts/harness/record"
)

func TestCtrlCEndsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), settling/2) // before the play goes on without the line
		defer cancel()
		code, _, stderr := run(ctx, chapterOf(door("knock"), "the door is there\n> somebody knocks\nnever\n"), "")
		if code != 130 || stderr != "99-toy: stopped\n" {
			t.Errorf("exit code %d, stderr %q", code, stderr)
		}
	})
}

// A program that returns because of Ctrl-C has not done as its transcript says,
// and that is no difference.
func TestCtrlCBeforeTheFirstLine(t *testing.T) {
	for range 100 { // either end may be seen first
		synctest.Test(t, func(t *testing.T) {
			ctx, ctrlC := context.WithCancel(t.Context())
			c := chapterOf(Step{Run: func(ctx context.Context, _ *Lesson) error { return ctx.Err() }}, "never\n")
			err := c.Check(ctx, c.Steps[0], quiet, func(string) {})
			if err == nil {
				t.Error("the line did not come, and there is no error")
			}
			ctrlC()
			if err := c.Check(ctx, c.Steps[0], quiet, func(string) {}); !errors.Is(err, context.Canceled) {
				t.Errorf("after Ctrl-C: %v", err)
			}
		})
	}
}

func TestCtrlCEndsAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, ctrlC := context.WithCancel(t.Context())
		stdin, typed := io.Pipe()
		defer typed.Close()
		time.AfterFunc(time.Second, ctrlC)
		c := toy() // of two steps, neither of which is to wait for the other's Enter
		c.Files = fstest.MapFS{"testdata/one.txt": {Data: []byte("$ go run ./99-toy one\nun\n")}}
		var stdout, stderr record.Buffer
		if code := c.run(ctx, []string{"-pause"}, stdin, &stdout, &stderr); code != exitInterrupted {
			t.Errorf("exit code %d, stderr %q, stdout:\n%s", code, &stderr, &stdout)
		}
	})
}

func TestAnActionIsNotGivenAfterCtrlC(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, ctrlC := context.WithCancel(t.Context())
		stdin, typed := io.Pipe()
		defer typed.Close()
		time.AfterFunc(time.Second, ctrlC)
		asked := false
		asks := Step{Run: func(ctx context.Context, l *Lesson) error {
			l.On("somebody asks", func() { asked = true })
			<-ctx.Done()
			return nil
		}}
		var stdout, stderr record.Buffer
		code := chapterOf(asks, "> somebody asks\n").run(ctx, []string{"-pause"}, stdin, &stdout, &stderr)
		if code != exitInterrupted || asked {
			t.Errorf("exit code %d, asked %t, stderr %q", code, asked, &stderr)
		}
	})
}

func TestPauseWaitsForEnter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		enter, stdin := io.Pipe()
		defer stdin.Close()
		var stdout, stderr record.Buffer
		ended := make(chan int, 1)
		go func() {
			c := chapterOf(door("knock"), doorTranscript)
			c.Steps = append(c.Steps, c.Steps[0]) // what is typed for the one is not for the other
			ended <- c.run(t.Context(), []string{"-pause"}, enter, &stdout, &stderr)
		}()
		pauses := []string{"> somebody knocks\n", "> somebody knocks\nknock\n> somebody knocks\n", "knock\n^C\n"}
		for i, shown := range slices.Repeat(pauses, 2) {
			synctest.Wait() // until nothing moves but for Enter
			if !strings.HasSuffix(stdout.String(), shown) {
				t.Errorf("pause %d: want %q at the end of\n%s", i+1, shown, &stdout)
			}
			fmt.Fprintln(stdin)
		}
		if code := <-ended; code != 0 {
			t.Errorf("exit code %d, stderr %q, stdout:\n%s", code, &stderr, &stdout)
		}
	})
}

func TestCtrlCEndsAnActionThatDoesNotReturn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		code, _, stderr := run(ctx, chapterOf(stuck(t), stuckTranscript), "")
		if took := time.Since(began); code != exitInterrupted || stderr != "99-toy: stopped\n" || took > time.Second {
			t.Errorf("exit code %d after %v, stderr %q", code, took, stderr)
		}
	})
}
