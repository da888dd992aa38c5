package main

import (
	"context"
	"fmt"
	"io"

	"k8s.io/client-go/tools/cache"
)

// pop takes the pod that came first, and what happened to it.
func pop(_ context.Context, out io.Writer) error {
	queue := newQueue(nil)
	if err := addAll(queue, pod1, pod2, pod3); err != nil {
		return err
	}
	return queue.Pop(func(deltas cache.Deltas) error {
		for _, d := range deltas {
			fmt.Fprintln(out, d.Type, ":", d.Object.(pod).Name)
		}
		return nil
	})
}
