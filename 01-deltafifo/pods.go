// The toy pods that the steps put into queues, and how they are printed.

package main

import (
	"errors"
	"fmt"
	"io"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/01-deltafifo/deltafifo"
)

// A pod has a name and something that changes; a queue needs no more.
type pod struct {
	Name  string
	Value float64
}

var pod1, pod2, pod3 = pod{"pod1", 1}, pod{"pod2", 2}, pod{"pod3", 3}

// podKey names a pod, and refuses whatever is none.
func podKey(obj any) (string, error) {
	p, ok := obj.(pod)
	if !ok {
		return "", fmt.Errorf("want a pod, got %T", obj)
	}
	return p.Name, nil
}

// newQueue returns a queue of toy pods; known may be nil.
func newQueue(known cache.KeyListerGetter) *deltafifo.Queue {
	return deltafifo.New(deltafifo.Options{KeyFunction: podKey, KnownObjects: known})
}

// addAll queues an Added delta for each pod.
func addAll(queue cache.ReflectorStore, pods ...pod) error {
	for _, p := range pods {
		if err := queue.Add(p); err != nil {
			return err
		}
	}
	return nil
}

// history is what happens in several steps: three pods come, the first one
// changes and goes.
func history(queue cache.ReflectorStore) error {
	changed := pod{"pod1", 1.1}
	return errors.Join(
		addAll(queue, pod1, pod2, pod3),
		queue.Update(changed),
		queue.Delete(changed),
	)
}

// show prints deltas, one a line.
func show(out io.Writer, deltas cache.Deltas) error {
	for _, d := range deltas {
		p, note, err := unwrap(d.Object)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s : %s : %v%s\n", d.Type, p.Name, p.Value, note)
	}
	return nil
}

// showAll pops and prints until nothing waits.
func showAll(out io.Writer, queue *deltafifo.Queue) error {
	for len(queue.List()) > 0 {
		err := queue.Pop(func(deltas cache.Deltas) error { return show(out, deltas) })
		if err != nil {
			return err
		}
	}
	return nil
}
