package main

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/01-deltafifo/deltafifo"
	"example.com/informer/scripts/harness/step/play"
)

// stepPop takes the pod that came first, and what happened to it.
func stepPop(_ context.Context, l *play.Lesson) error {
	queue := deltafifo.New(deltafifo.Options{KeyFunction: podKey})
	if err := errors.Join(queue.Add(pod{"pod1", 1}), queue.Add(pod{"pod2", 2}), queue.Add(pod{"pod3", 3})); err != nil {
		return err
	}
	return queue.Pop(func(deltas cache.Deltas) error {
		for _, delta := range deltas {
			fmt.Fprintln(l.Out, delta.Type, ":", delta.Object.(pod).Name)
		}
		return nil
	})
}
