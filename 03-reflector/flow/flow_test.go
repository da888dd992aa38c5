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

func TestTogetherReturnsTheFailureAndEndsTheOther(t *testing.T) {
	broken := errors.New("broken")
	fail := func(context.Context) error { return broken }
	wait := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	well := func(context.Context) error { return nil }
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, test := range []struct {
		name       string
		ctx        context.Context
		one, other func(context.Context) error
		want       error
	}{
		{"both well", t.Context(), well, well, nil},
		{"the first fails", t.Context(), fail, wait, broken},
		{"the second fails", t.Context(), wait, fail, broken},
		{"Ctrl-C", ended, wait, wait, context.Canceled},
	} {
		if err := flow.Together(test.ctx, test.one, test.other); !errors.Is(err, test.want) ||
			(err == nil) != (test.want == nil) {
			t.Errorf("%s: got %v, want %v", test.name, err, test.want)
		}
	}
}

func TestUntil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		if err := flow.Until(t.Context(), "the third try", func() bool { tries++; return tries == 3 }); err != nil {
			t.Error(err)
		}
		err := flow.Until(t.Context(), "the sky", func() bool { return false })
		if err == nil || err.Error() != "waited a minute, in vain, for: the sky" {
			t.Errorf("got %v, want that it waited in vain", err)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if err := flow.Until(ended, "the sky", func() bool { return false }); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want that it was cancelled", err)
		}
	})
}
