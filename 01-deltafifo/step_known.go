package main

import (
	"context"
	"fmt"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/01-deltafifo/deltafifo"
	"example.com/informer/scripts/harness/step/play"
)

// stepKnown deletes pods that were popped already: one with Delete, the other with a list that lacks
// it. The queue keeps such a delete only if it can read the objects of its consumer.
func stepKnown(_ context.Context, env *play.Env) error {
	for _, known := range []bool{false, true} {
		fmt.Fprintln(env.Out, "# known objects:", known)
		kept := knownPods{} // the consumer's
		options := deltafifo.Options{KeyFunction: podKey}
		if known {
			options.KnownObjects = kept
		}
		queue := deltafifo.New(options)
		consume := func(deltas cache.Deltas, _ bool) error {
			for _, delta := range deltas {
				p := delta.Object.(pod)
				fmt.Fprintf(env.Out, "%s : %s : %v\n", delta.Type, p.Name, p.Value)
				if delta.Type == cache.Deleted {
					delete(kept, p.Name)
				} else {
					kept[p.Name] = p
				}
			}
			return nil
		}
		if err := queue.Add(pod{"pod1", 1}); err != nil {
			return err
		}
		if err := queue.Update(pod{"pod2", 2}); err != nil {
			return err
		}
		for len(queue.List()) > 0 {
			if err := queue.Pop(consume); err != nil {
				return err
			}
		}
		if err := queue.Delete(pod{"pod1", 1}); err != nil {
			return err
		}
		fmt.Fprintln(env.Out, "pod1 is deleted; waiting now:", len(queue.List()))
		for len(queue.List()) > 0 {
			if err := queue.Pop(consume); err != nil {
				return err
			}
		}
		fmt.Fprintln(env.Out, "the consumer has:", kept.ListKeys())
		if err := queue.Replace(nil, "2"); err != nil {
			return err
		}
		fmt.Fprintln(env.Out, "an empty list; waiting now:", len(queue.List()))
	}
	return nil
}
