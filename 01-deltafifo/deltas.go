package main

import (
	"context"
	"fmt"
	"io"

	"k8s.io/client-go/tools/cache"
)

// deltas shows the grouping: pod1 changed and went after pod3 came, yet one
// pop gives its whole history, and it comes first because pod1 came first.
func deltas(_ context.Context, out io.Writer) error {
	queue := newQueue(nil)
	if err := history(queue); err != nil {
		return err
	}
	for len(queue.List()) > 0 {
		err := queue.Pop(func(deltas cache.Deltas) error {
			fmt.Fprintln(out, "# pop")
			return show(out, deltas)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
