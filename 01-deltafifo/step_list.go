package main

import (
	"context"
	"fmt"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/01-deltafifo/deltafifo"
	"example.com/informer/scripts/harness/step/play"
)

// stepList adds, updates and deletes toy pods, and pops them. List returns the newest state of each
// pod that waits in the queue.
func stepList(_ context.Context, env *play.Env) error {
	queue := deltafifo.New(deltafifo.Options{KeyFunction: podKey})
	for _, p := range []pod{{"pod1", 1}, {"pod2", 2}, {"pod3", 3}} {
		if err := queue.Add(p); err != nil {
			return err
		}
	}
	fmt.Fprintln(env.Out, "three pods are added:", queue.List())

	changed := pod{"pod1", 11}
	if err := queue.Update(changed); err != nil {
		return err
	}
	if err := queue.Delete(changed); err != nil {
		return err
	}
	fmt.Fprintln(env.Out, "pod1 is updated and deleted:", queue.List())

	for len(queue.List()) > 0 {
		err := queue.Pop(func(deltas cache.Deltas, _ bool) error {
			for _, delta := range deltas {
				fmt.Fprintln(env.Out, "popped:", delta.Type, delta.Object)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	fmt.Fprintln(env.Out, "in the queue now:", queue.List())
	return nil
}
