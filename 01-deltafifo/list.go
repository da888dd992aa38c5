package main

import (
	"context"
	"fmt"
	"io"
)

// list looks inside a queue: the newest state of everything that waits in it.
func list(_ context.Context, out io.Writer) error {
	queue := newQueue(nil)
	if err := addAll(queue, pod1, pod2, pod3); err != nil {
		return err
	}
	fmt.Fprintln(out, queue.List())
	return nil
}
