package main

import (
	"context"
	"fmt"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/01-deltafifo/deltafifo"
	"example.com/informer/scripts/harness/step/play"
)

// stepResync queues the known objects again, except for pod2: an update of pod2 waits already, and
// is newer than the known object.
func stepResync(_ context.Context, l *play.Lesson) error {
	queue := deltafifo.New(deltafifo.Options{
		KeyFunction:  podKey,
		KnownObjects: knownPods{"pod1": pod{"pod1", 1}, "pod2": pod{"pod2", 2}, "pod3": pod{"pod3", 3}},
	})
	if err := queue.Update(pod{"pod2", 2.2}); err != nil {
		return err
	}
	fmt.Fprintln(l.Out, "# resync: no server was asked, there is none")
	if err := queue.Resync(); err != nil {
		return err
	}
	for len(queue.List()) > 0 {
		err := queue.Pop(func(deltas cache.Deltas, _ bool) error {
			for _, delta := range deltas {
				p := delta.Object.(pod)
				fmt.Fprintf(l.Out, "%s : %s : %v\n", delta.Type, p.Name, p.Value)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
