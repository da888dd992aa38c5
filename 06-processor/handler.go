// The handlers of the steps. Each runs in a goroutine of its own, and which of
// two is first is anybody's guess: so they do not print, they write into a
// channel that the step prints from.

package main

import (
	"context"
	"fmt"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// newLines has room for all that is written in a step: no handler ever waits.
func newLines() chan string { return make(chan string, 16) }

// writer returns a handler that writes down its calls.
func writer(name string, lines chan<- string) cache.ResourceEventHandler {
	write := func(call string, obj any, note string) {
		pod := obj.(*corev1.Pod)
		lines <- fmt.Sprintf("%s : %s : %s : %s%s", name, call, pod.Name, pod.Status.Phase, note)
	}
	return cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(obj any, isInInitialList bool) {
			note := ""
			if isInInitialList {
				note = " (in the first list)"
			}
			write("OnAdd", obj, note)
		},
		UpdateFunc: func(oldObj, newObj any) {
			write("OnUpdate", newObj, fmt.Sprintf(" (was %s)", oldObj.(*corev1.Pod).Status.Phase))
		},
		DeleteFunc: func(obj any) { write("OnDelete", obj, "") },
	}
}

// first does something before each add that it passes on.
type first struct {
	do func(pod *corev1.Pod)
	cache.ResourceEventHandler
}

func (f first) OnAdd(obj any, isInInitialList bool) {
	f.do(obj.(*corev1.Pod))
	f.ResourceEventHandler.OnAdd(obj, isInInitialList)
}

// next waits for a line.
func next(ctx context.Context, lines <-chan string) (string, error) {
	select {
	case line := <-lines:
		return line, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// show prints n lines as they come.
func show(ctx context.Context, out io.Writer, n int, lines <-chan string) error {
	for range n {
		line, err := next(ctx, lines)
		if err != nil {
			return err
		}
		fmt.Fprintln(out, line)
	}
	return nil
}

// pause waits, or returns an error when ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
