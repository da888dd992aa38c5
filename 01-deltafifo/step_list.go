package main

import (
	"context"
	"errors"
	"fmt"

	"example.com/informer/01-deltafifo/deltafifo"
	"example.com/informer/scripts/harness/step/play"
)

// stepList looks inside a queue: the newest state of everything that waits in it.
func stepList(_ context.Context, l *play.Lesson) error {
	queue := deltafifo.New(deltafifo.Options{KeyFunction: podKey})
	if err := errors.Join(queue.Add(pod{"pod1", 1}), queue.Add(pod{"pod2", 2}), queue.Add(pod{"pod3", 3})); err != nil {
		return err
	}
	fmt.Fprintln(l.Out, queue.List())

	changed := pod{"pod1", 11}
	if err := errors.Join(queue.Update(changed), queue.Delete(changed)); err != nil {
		return err
	}
	fmt.Fprintln(l.Out, "pod1 was updated and deleted:", queue.List())
	return nil
}
