package main

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/step/play"
)

// stepClientgo repeats the step deltas with client-go's DeltaFIFO. When the queue is closed, Pop
// returns the deltas that are left, and does not wait for more.
func stepClientgo(_ context.Context, l *play.Lesson) error {
	queue := cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{KeyFunction: podKey})
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
	queue.Close()
	for {
		_, err := queue.Pop(func(obj any, isInInitialList bool) error {
			fmt.Fprintln(l.Out, "# pop")
			for _, delta := range obj.(cache.Deltas) {
				p := delta.Object.(pod)
				fmt.Fprintf(l.Out, "%s : %s : %v\n", delta.Type, p.Name, p.Value)
			}
			return nil
		})
		if errors.Is(err, cache.ErrFIFOClosed) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
