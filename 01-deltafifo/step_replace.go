package main

import (
	"context"
	"fmt"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/01-deltafifo/deltafifo"
	"example.com/informer/scripts/harness/step/play"
)

// stepReplace gives a queue a new list, as a reflector does that cannot resume its watch. pod1,
// pod3 and pod5 are not in the list. The watch has sent the delete of pod3 before it broke, but not
// the other two. Before the first pop, there is a pod1 again.
func stepReplace(_ context.Context, env *play.Env) error {
	known := knownPods{"pod1": pod{"pod1", 1}, "pod2": pod{"pod2", 2}, "pod3": pod{"pod3", 3}}
	queue := deltafifo.New(deltafifo.Options{KeyFunction: podKey, KnownObjects: halfKnownPods{known, "pod5"}})
	if err := queue.Delete(pod{"pod3", 3.3}); err != nil {
		return err
	}
	if err := queue.Replace([]any{pod{"pod2", 2.2}, pod{"pod4", 4}}, ""); err != nil {
		return err
	}
	if err := queue.Add(pod{"pod1", 1.1}); err != nil {
		return err
	}
	for len(queue.List()) > 0 {
		err := queue.Pop(func(deltas cache.Deltas, _ bool) error {
			for _, delta := range deltas {
				obj, note := delta.Object, ""
				tombstone, ok := obj.(cache.DeletedFinalStateUnknown)
				if ok {
					obj, note = tombstone.Obj, " (a tombstone: as it was last seen)"
				}
				p, ok := obj.(pod)
				if !ok { // the tombstone is empty
					fmt.Fprintf(env.Out, "%s : %s (an empty tombstone: only its key)\n", delta.Type, tombstone.Key)
					continue
				}
				fmt.Fprintf(env.Out, "%s : %s : %v%s\n", delta.Type, p.Name, p.Value, note)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// halfKnownPods list one key more than they have pods. A store looks like this if its object is
// removed after ListKeys, and before GetByKey.
type halfKnownPods struct {
	knownPods
	removed string
}

func (k halfKnownPods) ListKeys() []string { return append(k.knownPods.ListKeys(), k.removed) }
