package main

import (
	"bytes"
	"context"
	"regexp"
	"sync"
	"testing"

	"example.com/informer/02-listwatch/kubetest"
	"example.com/informer/03-reflector/flow"
)

// A terminal shows what is printed, and who looks at it may press Ctrl-C.
type terminal struct {
	mu    sync.Mutex
	text  bytes.Buffer
	times int
	stop  func() // called when so much was printed, if it is not 0
}

func (w *terminal) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.times--; w.times == 0 {
		w.stop()
	}
	return w.text.Write(p)
}

func (w *terminal) find(what *regexp.Regexp) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return what.FindString(w.text.String())
}

func TestFollowServesUntilCtrlC(t *testing.T) {
	kubetest.Need(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out terminal
	ended := make(chan error, 1)
	go func() { ended <- chapter.Follow(ctx, &out) }()

	address := regexp.MustCompile(`http://127\.0\.0\.1:\d+`)
	must(t, flow.Until(ctx, "it says where it serves", func() bool { return out.find(address) != "" }))
	must(t, flow.Until(ctx, "it is ready", func() bool {
		status, _, err := get(ctx, out.find(address)+"/readyz")
		return err == nil && status == 200
	}))
	status, body, err := get(ctx, out.find(address)+"/")
	must(t, err)
	if status != 200 || body != "[]\n" {
		t.Errorf("%d %s, want no pods", status, body)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("-follow ends with %v, want no error", err)
	}
}

// Nothing is left running: TestMain looks for it.
func TestStepsEndOnCtrlC(t *testing.T) {
	kubetest.Need(t)
	for _, step := range chapter.Steps {
		if step.Name == "controllers" {
			continue // it makes a control plane of its own, and is tested there
		}
		for _, times := range []int{1, 2} {
			t.Run(step.Name, func(t *testing.T) {
				t.Parallel()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				err := step.Run(ctx, &terminal{times: times, stop: cancel})
				if ctx.Err() == nil {
					t.Errorf("it printed fewer than %d times, and ended with %v", times, err)
				}
			})
		}
	}
}
