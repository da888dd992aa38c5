// A chapter at work, and somebody who looks at what it prints and presses
// Ctrl-C.

package stepstest

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"example.com/informer/01-deltafifo/steps"
)

// A Terminal keeps what is printed on it, from any goroutine.
type Terminal struct {
	mu     sync.Mutex
	text   bytes.Buffer
	prints int    // until Ctrl-C; nobody presses it if this is 0
	ctrlC  func() // ends what runs here
}

// CtrlCAt returns a terminal, and the context of what runs there: somebody
// presses Ctrl-C when something is printed for the nth time.
func CtrlCAt(t testing.TB, nth int) (context.Context, *Terminal) {
	ctx, cancel := context.WithCancel(t.Context())
	return ctx, &Terminal{prints: nth, ctrlC: cancel}
}

// Follow runs -follow until the test is over, which is its Ctrl-C, and wants
// it to end without an error then.
func Follow(t testing.TB, c steps.Chapter) *Terminal {
	t.Helper()
	out := &Terminal{}
	ended := make(chan error, 1)
	go func() { ended <- c.Follow(t.Context(), out) }()
	t.Cleanup(func() {
		if err := <-ended; err != nil {
			t.Errorf("-follow ends with %v, want no error; it printed\n%s", err, out)
		}
	})
	return out
}

// EndsOnCtrlC runs the step to Ctrl-C at its first print and at its second, as
// parallel subtests. It is TestMain that sees whether something is left running.
func EndsOnCtrlC(t *testing.T, step steps.Step) {
	for nth := 1; nth <= 2; nth++ {
		t.Run(fmt.Sprintf("%s, print %d", step.Name, nth), func(t *testing.T) {
			t.Parallel()
			ctx, out := CtrlCAt(t, nth)
			err := step.Run(ctx, out)
			if ctx.Err() == nil {
				t.Errorf("it printed fewer than %d times, and ended with %v", nth, err)
			}
		})
	}
}

func (w *Terminal) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.prints--; w.prints == 0 {
		w.ctrlC()
	}
	return w.text.Write(p)
}

// String is all that was printed so far.
func (w *Terminal) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// Await waits until what was printed has a match, and returns that.
func (w *Terminal) Await(t testing.TB, what *regexp.Regexp) (match string) {
	t.Helper()
	found := func(context.Context) (bool, error) {
		match = what.FindString(w.String())
		return match != "", nil
	}
	if wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, time.Minute, true, found) != nil {
		t.Fatalf("waited in vain for %s; it printed\n%s", what, w)
	}
	return match
}
