package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/01-deltafifo/deltafifo"
	"example.com/informer/04-indexer/indexer"
	"example.com/informer/scripts/harness/step"
)

// stepKnown gives the queue the store of the loop below as its known objects. Now Deleted arrives.
// The loop can also print the old phase of a pod when the phase changes.
func stepKnown(ctx context.Context, l *step.Lesson) error {
	pods := cache.NewListWatchFromClient(l.Client.CoreV1().RESTClient(), "pods", l.Namespace, fields.Everything())
	store := indexer.New(cache.DeletionHandlingMetaNamespaceKeyFunc, nil) // takes tombstones, too
	queue := deltafifo.New(deltafifo.Options{KnownObjects: store})        // the queue of chapter 01
	ctx, cancel := context.WithCancel(ctx)
	context.AfterFunc(ctx, queue.Close)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	running.Go(func() { cache.NewReflector(pods, &corev1.Pod{}, queue, 0).RunWithContext(ctx) })

	for {
		err := queue.Pop(func(deltas cache.Deltas, _ bool) error {
			for _, delta := range deltas {
				stored, known, err := store.Get(delta.Object) // the state before this delta
				if err != nil {
					return err
				}
				old, _ := stored.(*corev1.Pod)
				if delta.Type == cache.Deleted { // of a pod, or of its tombstone
					fmt.Fprintf(l.Out, "%s : %s : %s\n", delta.Type, old.Name, old.Status.Phase)
					if err := store.Delete(delta.Object); err != nil {
						return err
					}
					continue
				}
				pod := delta.Object.(*corev1.Pod)
				switch phase := pod.Status.Phase; {
				case !known:
					fmt.Fprintf(l.Out, "%s : %s : %s\n", delta.Type, pod.Name, phase)
				case old.Status.Phase != phase:
					fmt.Fprintf(l.Out, "%s : %s : %s, was %s\n", delta.Type, pod.Name, phase, old.Status.Phase)
				}
				if err := store.Update(pod); err != nil { // which adds the pod if it is new
					return err
				}
			}
			return nil
		})
		if errors.Is(err, cache.ErrFIFOClosed) {
			fmt.Fprintf(l.Out, "in the store : %d objects\n", len(store.ListKeys()))
			return nil
		}
		if err != nil {
			return err
		}
	}
}
