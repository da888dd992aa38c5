// The transcript of a session: what its step printed, and waiting for it.

package kube

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
)

// transcript passes text on to out and remembers it. The zero value with out
// set is ready for use, from any goroutine.
type transcript struct {
	out io.Writer

	mu      sync.Mutex
	text    strings.Builder
	waiting []*waiter
}

// A waiter's channel is closed once text is in the transcript.
type waiter struct {
	text string
	seen chan struct{}
}

func (t *transcript) print(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	io.WriteString(t.out, text)
	t.text.WriteString(text)
	var still []*waiter
	for _, w := range t.waiting {
		if strings.Contains(t.text.String(), w.text) {
			close(w.seen)
		} else {
			still = append(still, w)
		}
	}
	t.waiting = still
}

func (t *transcript) await(text string) *waiter {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := &waiter{text: text, seen: make(chan struct{})}
	if strings.Contains(t.text.String(), text) {
		close(w.seen)
	} else {
		t.waiting = append(t.waiting, w)
	}
	return w
}

// Printf prints a part of the step's output.
func (s *Session) Printf(format string, args ...any) {
	s.transcript.print(fmt.Sprintf(format, args...))
}

// WaitPrinted returns once the step has printed text. A step whose events come
// in one goroutine while another causes them keeps its transcript in order so:
// first the event is shown, then the next command is given.
func (s *Session) WaitPrinted(ctx context.Context, text string) error {
	select {
	case <-s.transcript.await(text).seen:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting until the step prints %q: %w", text, context.Cause(ctx))
	}
}
