package flow_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/03-reflector/flow"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newQueue(t *testing.T, keys ...string) *cache.DeltaFIFO {
	t.Helper()
	queue := cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{
		KeyFunction: func(obj any) (string, error) { return obj.(string), nil },
	})
	for _, key := range keys {
		if err := queue.Add(key); err != nil {
			t.Fatal(err)
		}
	}
	return queue
}

func TestDrainEndsWhenItIsEnough(t *testing.T) {
	queue := newQueue(t, "a", "b", "c")
	var seen string
	err := flow.DrainDeltas(t.Context(), queue, func(d cache.Delta) error {
		seen += d.Object.(string)
		if d.Object == "b" {
			return flow.ErrEnough
		}
		return nil
	})
	if err != nil || seen != "ab" || !queue.IsClosed() {
		t.Errorf("error %v, seen %q, closed %t; want none, ab, true", err, seen, queue.IsClosed())
	}
}

func TestDrainReturnsAConsumersError(t *testing.T) {
	refused := errors.New("refused")
	err := flow.DrainDeltas(t.Context(), newQueue(t, "a"), func(cache.Delta) error { return refused })
	if !errors.Is(err, refused) {
		t.Errorf("got %v, want %v", err, refused)
	}
}

func TestDrainEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- flow.DrainDeltas(ctx, newQueue(t), func(cache.Delta) error { return nil }) }()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that it was cancelled", err)
	}
}

func TestUntil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		if err := flow.Until(t.Context(), "the third try", func() bool { tries++; return tries == 3 }); err != nil {
			t.Error(err)
		}
		err := flow.Until(t.Context(), "the sky", func() bool { return false })
		if err == nil || err.Error() != "the sky did not come within a minute" {
			t.Errorf("got %v, want that the sky did not come", err)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if err := flow.Until(ended, "the sky", func() bool { return false }); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want that it was cancelled", err)
		}
	})
}
