package main

import (
	"context"
	"fmt"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/01-deltafifo/deltafifo"
	"example.com/informer/scripts/harness/step/play"
)

// stepReplace gives a queue a new list, as a reflector does that cannot resume its watch. pod1 and
// pod3 are not in the list. The watch has sent the delete of pod3 before it broke, but not the
// delete of pod1.
func stepReplace(_ context.Context, l *play.Lesson) error {
	queue := deltafifo.New(deltafifo.Options{
		KeyFunction:  podKey,
		KnownObjects: knownPods{"pod1": pod{"pod1", 1}, "pod2": pod{"pod2", 2}, "pod3": pod{"pod3", 3}},
	})
	if err := queue.Delete(pod{"pod3", 3.3}); err != nil {
		return err
	}
	if err := queue.Replace([]any{pod{"pod2", 2.2}, pod{"pod4", 4}}, ""); err != nil {
		return err
	}
	for len(queue.List()) > 0 {
		err := queue.Pop(func(deltas cache.Deltas, _ bool) error {
			for _, delta := range deltas {
				obj, note := delta.Object, ""
				if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
					obj, note = tombstone.Obj, " (a tombstone: as it was last seen)"
				}
				p, ok := obj.(pod)
				if !ok { // a tombstone may be empty
					return fmt.Errorf("want a pod, got %T", obj)
				}
				fmt.Fprintf(l.Out, "%s : %s : %v%s\n", delta.Type, p.Name, p.Value, note)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
