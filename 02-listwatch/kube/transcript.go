// The transcript of a session: what its step printed, and waiting for it.

package kube

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// A Transcript keeps what is printed, and passes it on to Out, if that is set.
// The zero value is ready for use, from any goroutine.
type Transcript struct {
	Out io.Writer

	mu   sync.Mutex
	text strings.Builder
}

// Printf prints a part of the step's output.
func (t *Transcript) Printf(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text.WriteString(text)
	if t.Out != nil {
		io.WriteString(t.Out, text)
	}
}

// Text is all that was printed so far.
func (t *Transcript) Text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}

// WaitPrinted returns once the step has printed text. A step whose events come
// in one goroutine while another causes them keeps its transcript in order so:
// first the event is shown, then the next command is given.
func (t *Transcript) WaitPrinted(ctx context.Context, text string) error {
	err := wait.PollUntilContextCancel(ctx, 5*time.Millisecond, true,
		func(context.Context) (bool, error) { return strings.Contains(t.Text(), text), nil })
	if err != nil {
		return fmt.Errorf("waiting until the step prints %q: %w", text, context.Cause(ctx))
	}
	return nil
}
