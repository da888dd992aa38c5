package main

import (
	"context"
	"strings"
	"testing"

	"example.com/informer/02-listwatch/kubetest"
)

// interrupting is Ctrl-C as soon as something was printed.
type interrupting struct {
	text strings.Builder
	stop func()
}

func (w *interrupting) Write(p []byte) (int, error) {
	w.stop()
	return w.text.Write(p)
}

func TestFollowEndsWellOnCtrlC(t *testing.T) {
	kubetest.Need(t)
	ctx, cancel := context.WithCancel(t.Context())
	out := &interrupting{stop: cancel}
	if err := chapter.Follow(ctx, out); err != nil {
		t.Errorf("-follow ends with %v, want no error", err)
	}
	if !strings.Contains(out.text.String(), "run nettool --image=") {
		t.Errorf("it printed %q, want what to try", out.text.String())
	}
}
