package main

import (
	"context"
	"fmt"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/01-deltafifo/deltafifo"
	"example.com/informer/scripts/harness/step/play"
)

// stepCallbacks shows the core of every informer: it looks at the type of each delta, and calls the
// function for this type.
func stepCallbacks(_ context.Context, l *play.Lesson) error {
	onAdd := func(p pod) { fmt.Fprintln(l.Out, "  the add callback runs for", p.Name) }
	onUpdate := func(p pod) { fmt.Fprintln(l.Out, "  the update callback runs for", p.Name) }
	onDelete := func(p pod) { fmt.Fprintln(l.Out, "  the delete callback runs for", p.Name) }

	queue := deltafifo.New(deltafifo.Options{KeyFunction: podKey})
	changed := pod{"pod1", 1.1}
	if err := queue.Add(pod{"pod1", 1}); err != nil {
		return err
	}
	if err := queue.Update(changed); err != nil {
		return err
	}
	if err := queue.Delete(changed); err != nil {
		return err
	}
	return queue.Pop(func(deltas cache.Deltas, _ bool) error {
		for _, delta := range deltas {
			p := delta.Object.(pod)
			fmt.Fprintf(l.Out, "%s %s value: %v\n", delta.Type, p.Name, p.Value)
			switch delta.Type {
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
