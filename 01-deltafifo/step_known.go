package main

import (
	"context"
	"fmt"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/01-deltafifo/deltafifo"
	"example.com/informer/scripts/harness/step/play"
)

// stepKnown deletes a pod that was popped already: first with Delete, then with a list that lacks
// the pod. The queue keeps such a delete only if it can read the objects of its consumer.
func stepKnown(_ context.Context, l *play.Lesson) error {
	printDeltas := func(deltas cache.Deltas, _ bool) error {
		for _, delta := range deltas {
			p := delta.Object.(pod)
			fmt.Fprintf(l.Out, "%s : %s : %v\n", delta.Type, p.Name, p.Value)
		}
		return nil
	}
	for _, kept := range []cache.KeyListerGetter{nil, knownPods{"pod1": pod{"pod1", 1}}} {
		fmt.Fprintln(l.Out, "# known objects:", kept != nil)
		queue := deltafifo.New(deltafifo.Options{KeyFunction: podKey, KnownObjects: kept})
		if err := queue.Add(pod{"pod1", 1}); err != nil {
			return err
		}
		if err := queue.Pop(printDeltas); err != nil {
			return err
		}
		if err := queue.Delete(pod{"pod1", 1}); err != nil {
			return err
		}
		fmt.Fprintln(l.Out, "deleted; waiting now:", len(queue.List()))
		for len(queue.List()) > 0 {
			if err := queue.Pop(printDeltas); err != nil {
				return err
			}
		}
		if err := queue.Replace(nil, "2"); err != nil { // the consumer has not removed the pod yet
			return err
		}
		fmt.Fprintln(l.Out, "a list without it; waiting now:", len(queue.List()))
	}
	return nil
}
