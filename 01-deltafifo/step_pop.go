package main

import (
	"context"
	"fmt"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/01-deltafifo/deltafifo"
	"example.com/informer/scripts/harness/step/play"
)

// stepPop pops the deltas of the pod that was added first.
func stepPop(_ context.Context, l *play.Lesson) error {
	queue := deltafifo.New(deltafifo.Options{KeyFunction: podKey})
	for _, p := range []pod{{"pod1", 1}, {"pod2", 2}, {"pod3", 3}} {
		if err := queue.Add(p); err != nil {
			return err
		}
	}
	return queue.Pop(func(deltas cache.Deltas, _ bool) error {
		for _, delta := range deltas {
			fmt.Fprintln(l.Out, delta.Type, ":", delta.Object.(pod).Name)
		}
		return nil
	})
}
