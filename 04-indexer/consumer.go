// The two ends of a queue: a reflector that fills it, a consumer that drains it
// into a store.

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
)

// start runs a reflector in the background. The function that it returns ends
// it and waits for its end.
func start(ctx context.Context, reflector *cache.Reflector) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		reflector.RunWithContext(ctx)
	}()
	return func() { cancel(); <-ended }
}

// until waits for a condition that comes true within seconds.
func until(ctx context.Context, what string, condition func() bool) error {
	err := wait.PollUntilContextTimeout(ctx, 10*time.Millisecond, time.Minute, true,
		func(context.Context) (bool, error) { return condition(), nil })
	if wait.Interrupted(err) && ctx.Err() == nil {
		return fmt.Errorf("%s did not come within a minute", what)
	}
	return err
}

// errEnough is what a consumer returns when it has seen what it waited for.
var errEnough = errors.New("enough")

// drain hands every delta of the queue to each, until that says errEnough,
// which is no error, or until ctx ends.
func drain(ctx context.Context, queue cache.Queue, each func(cache.Delta) error) error {
	defer context.AfterFunc(ctx, queue.Close)()
	for {
		_, err := queue.Pop(func(obj any, _ bool) error {
			for _, d := range obj.(cache.Deltas) {
				if err := each(d); err != nil {
					return err
				}
			}
			return nil
		})
		switch {
		case errors.Is(err, errEnough):
			return nil
		case errors.Is(err, cache.ErrFIFOClosed):
			return ctx.Err()
		case err != nil:
			return err
		}
	}
}

// together runs both to their end. If one fails, the other's context ends, and
// the failure is returned.
func together(ctx context.Context, one, other func(context.Context) error) error {
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
