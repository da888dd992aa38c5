// Tests of Enter and Ctrl-C during a play.

package play

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/informer/scripts/harness/record"
)

func TestCtrlCEndsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []Chapter{
			chapterOf(door("knock"), "the door is there\n> somebody knocks\nnever\n"),
			chapterOf(stuck(t), stuckTranscript), // an action that does not return
		} {
			began := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), settleTimeout/2) // before the play goes on
			defer cancel()
			code, _, stderr := run(ctx, c, "")
			wantCode(t, code, exitInterrupted, stderr)
			if want := "99-toy: stopped\n"; stderr != want {
				t.Errorf("stderr is %q, want %q", stderr, want)
			}
			if took := time.Since(began); took > settleTimeout {
				t.Errorf("the run took %v, want %v at most", took, settleTimeout)
			}
		}
	})
}

// A program that returns because of Ctrl-C has not done what its transcript says, and that is no
// difference.
func TestCtrlCBeforeTheFirstLine(t *testing.T) {
	for range 100 { // the player may see the end of the program first, or that of the context
		synctest.Test(t, func(t *testing.T) {
			ctx, ctrlC := context.WithCancel(t.Context())
			returns := Step{Run: func(ctx context.Context, _ *Env) error { return ctx.Err() }}
			wantError(t, check(ctx, returns, "never\n"), "-never")
			ctrlC()
			if err := check(ctx, returns, "never\n"); !errors.Is(err, context.Canceled) {
				t.Errorf("check() after Ctrl-C = %v, want %v", err, context.Canceled)
			}
		})
	}
}

// After Ctrl-C the next step does not wait for its Enter, and the player does not call the action.
func TestCtrlCEndsAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := false
		asks := Step{Run: func(ctx context.Context, env *Env) error {
			env.On("somebody asks", func() { asked = true })
			<-ctx.Done()
			return nil
		}}
		for _, transcript := range []string{"$ go run ./99-toy toy\nun\n", "> somebody asks\n"} {
			ctx, ctrlC := context.WithTimeout(t.Context(), time.Second)
			defer ctrlC()
			stdin, typed := io.Pipe()
			defer typed.Close()
			c := chapterOf(asks, transcript)
			c.Steps = append(c.Steps, c.Steps[0])
			var stdout, stderr record.Buffer
			code := c.run(ctx, []string{"-pause"}, stdin, &stdout, &stderr)
			wantCode(t, code, exitInterrupted, stderr.String())
			if asked {
				t.Errorf("the player has called the action; stdout:\n%s", &stdout)
			}
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
			c.Steps = append(c.Steps, c.Steps[0]) // each Enter counts for one step only
			ended <- c.run(t.Context(), []string{"-pause"}, enter, &stdout, &stderr)
		}()
		pauses := []string{"> somebody knocks\n", "> somebody knocks\nknock\n> somebody knocks\n", "knock\n^C\n"}
		for i, shown := range slices.Repeat(pauses, 2) {
			synctest.Wait() // until everything waits for Enter
			if !strings.HasSuffix(stdout.String(), shown) {
				t.Errorf("pause %d: stdout is\n%s\nwant %q at its end", i+1, &stdout, shown)
			}
			fmt.Fprintln(stdin)
		}
		wantCode(t, <-ended, exitOK, stderr.String())
	})
}
