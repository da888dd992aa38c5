package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"k8s.io/client-go/tools/cache"
)

// clientgo does with client-go's DeltaFIFO what the step deltas did with ours.
func clientgo(_ context.Context, out io.Writer) error {
	queue := cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{KeyFunction: podKey})
	if err := history(queue); err != nil {
		return err
	}
	return showRest(out, queue)
}

// showRest closes one of client-go's queues, so that Pop no longer waits for
// more, and prints what is left in it.
func showRest(out io.Writer, queue cache.Queue) error {
	queue.Close()
	for {
		_, err := queue.Pop(func(obj any, _ bool) error {
			fmt.Fprintln(out, "# pop")
			return show(out, obj.(cache.Deltas))
		})
		switch {
		case errors.Is(err, cache.ErrFIFOClosed):
			return nil
		case err != nil:
			return err
		}
	}
}
