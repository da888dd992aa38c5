// Package flow has the two ends of a queue: a reflector that fills it, and a
// consumer that drains it while something else makes the events.
package flow

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
)

// Start runs a reflector in the background. The function that it returns ends
// it and waits for its end.
func Start(ctx context.Context, reflector *cache.Reflector) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		reflector.RunWithContext(ctx)
	}()
	return func() { cancel(); <-ended }
}

// ErrEnough is what a consumer returns when it has seen what it waited for.
var ErrEnough = errors.New("enough")

// Drain calls pop until that says ErrEnough, which is no error, or until ctx
// ends; then it closes the queue.
func Drain(ctx context.Context, queue interface{ Close() }, pop func() error) error {
	defer context.AfterFunc(ctx, queue.Close)()
	defer queue.Close()
	for {
		switch err := pop(); {
		case errors.Is(err, ErrEnough):
			return nil
		case errors.Is(err, cache.ErrFIFOClosed):
			return ctx.Err()
		case err != nil:
			return err
		}
	}
}

// DrainDeltas drains one of client-go's queues, one delta at a time.
func DrainDeltas(ctx context.Context, queue cache.Queue, each func(cache.Delta) error) error {
	return Drain(ctx, queue, func() error {
		_, err := queue.Pop(func(obj any, _ bool) error { return ForEach(obj.(cache.Deltas), each) })
		return err
	})
}

// ForEach calls each for one delta after the other, up to the first error.
func ForEach(deltas cache.Deltas, each func(cache.Delta) error) error {
	for _, d := range deltas {
		if err := each(d); err != nil {
			return err
		}
	}
	return nil
}

// Together runs both to their end. If one fails, the other's context ends, and
// the failure is returned.
func Together(ctx context.Context, one, other func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	run := func(f func(context.Context) error) {
		if err := f(ctx); err != nil {
			cancel(err)
		}
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		run(one)
	}()
	run(other)
	<-ended
	return context.Cause(ctx)
}

// Until waits, for at most a minute, for what a condition says has come.
func Until(ctx context.Context, what string, condition func() bool) error {
	err := wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, time.Minute, true,
		func(context.Context) (bool, error) { return condition(), nil })
	if wait.Interrupted(err) && ctx.Err() == nil {
		return fmt.Errorf("waited a minute, in vain, for: %s", what)
	}
	return err
}

// UntilListed waits until the reflector has its first list, so that what
// happens next reaches it as an event.
func UntilListed(ctx context.Context, reflector *cache.Reflector) error {
	return Until(ctx, "the first list", func() bool { return reflector.LastSyncResourceVersion() != "" })
}
