package main

import (
	"context"
	"fmt"
	"io"

	"k8s.io/client-go/tools/cache"
)

// callbacks is the seed of every informer: look at the type of the delta, and
// call whoever wants to hear of it.
func callbacks(_ context.Context, out io.Writer) error {
	onAdd := func(p pod) { fmt.Fprintln(out, "  the add callback runs for", p.Name) }
	onUpdate := func(p pod) { fmt.Fprintln(out, "  the update callback runs for", p.Name) }
	onDelete := func(p pod) { fmt.Fprintln(out, "  the delete callback runs for", p.Name) }

	queue := newQueue(nil)
	if err := history(queue); err != nil {
		return err
	}
	return queue.Pop(func(deltas cache.Deltas) error {
		for _, d := range deltas {
			p := d.Object.(pod)
			fmt.Fprintf(out, "%s %s value: %v\n", d.Type, p.Name, p.Value)
			switch d.Type {
			case cache.Added:
				onAdd(p)
			case cache.Updated:
				onUpdate(p)
			case cache.Deleted:
				onDelete(p)
			}
		}
		return nil
	})
}
