package main

import (
	"context"
	"fmt"

	"example.com/informer/01-deltafifo/deltafifo"
	"example.com/informer/scripts/harness/step/play"
)

// stepList lists the newest state of each pod that waits in a queue.
func stepList(_ context.Context, l *play.Lesson) error {
	queue := deltafifo.New(deltafifo.Options{KeyFunction: podKey})
	for _, p := range []pod{{"pod1", 1}, {"pod2", 2}, {"pod3", 3}} {
		if err := queue.Add(p); err != nil {
			return err
		}
	}
	fmt.Fprintln(l.Out, queue.List())

	changed := pod{"pod1", 11}
	if err := queue.Update(changed); err != nil {
		return err
	}
	if err := queue.Delete(changed); err != nil {
		return err
	}
	fmt.Fprintln(l.Out, "pod1 was updated and deleted:", queue.List())
	return nil
}
