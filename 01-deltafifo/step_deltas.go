package main

import (
	"context"
	"fmt"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/01-deltafifo/deltafifo"
	"example.com/informer/scripts/harness/step/play"
)

// stepDeltas shows how the queue groups deltas. pod1 is updated and deleted after pod3 is added.
// But one Pop returns all deltas of pod1. They come first, because pod1 was added first.
func stepDeltas(_ context.Context, env *play.Env) error {
	queue := deltafifo.New(deltafifo.Options{KeyFunction: podKey})
	for _, p := range []pod{{"pod1", 1}, {"pod2", 2}, {"pod3", 3}} {
		if err := queue.Add(p); err != nil {
			return err
		}
	}
	changed := pod{"pod1", 1.1}
	if err := queue.Update(changed); err != nil {
		return err
	}
	if err := queue.Delete(changed); err != nil {
		return err
	}
	for len(queue.List()) > 0 {
		err := queue.Pop(func(deltas cache.Deltas, _ bool) error {
			fmt.Fprintln(env.Out, "# pop")
			for _, delta := range deltas {
				p := delta.Object.(pod)
				fmt.Fprintf(env.Out, "%s : %s : %v\n", delta.Type, p.Name, p.Value)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
