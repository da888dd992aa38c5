// Two things at once: what makes events, and what sees them.

package main

import "context"

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
