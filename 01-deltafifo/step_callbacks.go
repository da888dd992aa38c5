package main

import (
	"context"
	"fmt"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/01-deltafifo/deltafifo"
	"example.com/informer/scripts/harness/step/play"
)

// stepCallbacks shows the core of every informer: a switch over the type of each delta, which calls
// the function for this type. A Replaced comes from a list. It can be an add or an update: only the
// consumer knows.
func stepCallbacks(_ context.Context, env *play.Env) error {
	onAdd := func(p pod) { fmt.Fprintln(env.Out, "  the add callback runs for", p.Name) }
	onUpdate := func(p pod) { fmt.Fprintln(env.Out, "  the update callback runs for", p.Name) }
	onDelete := func(p pod) { fmt.Fprintln(env.Out, "  the delete callback runs for", p.Name) }

	known := knownPods{"pod2": pod{"pod2", 2}} // the consumer has popped pod2 before
	queue := deltafifo.New(deltafifo.Options{KeyFunction: podKey, KnownObjects: known, EmitDeltaTypeReplaced: true})
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
	if err := queue.Resync(); err != nil { // pod2 once more
		return err
	}
	if err := queue.Replace([]any{pod{"pod2", 2.2}, pod{"pod3", 3}}, "1"); err != nil {
		return err
	}
	for len(queue.List()) > 0 {
		err := queue.Pop(func(deltas cache.Deltas, _ bool) error {
			for _, delta := range deltas {
				p := delta.Object.(pod)
				fmt.Fprintf(env.Out, "%s %s value: %v\n", delta.Type, p.Name, p.Value)
				_, isKnown := known[p.Name]
				switch delta.Type {
				case cache.Added:
					onAdd(p)
				case cache.Updated, cache.Sync:
					onUpdate(p)
				case cache.Deleted:
					onDelete(p)
				case cache.Replaced:
					if isKnown {
						onUpdate(p)
					} else {
						onAdd(p)
					}
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
