package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"k8s.io/client-go/tools/cache"
)

// closing ends a consumer's loop: a closed queue first gives away what waits,
// then Pop returns ErrFIFOClosed instead of waiting for more.
func closing(_ context.Context, out io.Writer) error {
	queue := newQueue(nil)
	ended := make(chan error)
	go func() {
		for {
			err := queue.Pop(func(deltas cache.Deltas) error { return show(out, deltas) })
			if err != nil {
				ended <- err
				return
			}
		}
	}()

	if err := addAll(queue, pod1, pod2); err != nil {
		return err
	}
	queue.Close()
	err := <-ended
	fmt.Fprintln(out, "the loop ends:", err)
	fmt.Fprintln(out, "because the queue was closed:", errors.Is(err, cache.ErrFIFOClosed))
	return nil
}
