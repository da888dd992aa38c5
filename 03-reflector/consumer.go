// The two ends of a queue: a reflector that fills it, a consumer that drains it.

package main

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/02-listwatch/kube"
)

// start runs a reflector in the background. The function that it returns ends
// it and waits for its end.
func start(ctx context.Context, r *cache.Reflector) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.RunWithContext(ctx)
	}()
	return func() { cancel(); <-ended }
}

// background runs what makes the events. If it fails there is nothing more to
// wait for: it closes the queue. The function that it returns waits for its
// end and joins its error with that of the consumer.
func background(run func() error, queue interface{ Close() }) (wait func(error) error) {
	failed := make(chan error, 1)
	go func() {
		err := run()
		if err != nil {
			queue.Close()
		}
		failed <- err
	}()
	return func(err error) error {
		if cause := <-failed; cause != nil {
			return cause
		}
		return err
	}
}

// errEnough is what a consumer returns when it has seen what it waited for.
var errEnough = errors.New("enough")

// drain calls pop until that says errEnough, which is no error, or until ctx
// ends; then it closes the queue.
func drain(ctx context.Context, queue interface{ Close() }, pop func() error) error {
	defer context.AfterFunc(ctx, queue.Close)()
	defer queue.Close()
	for {
		switch err := pop(); {
		case errors.Is(err, errEnough):
			return nil
		case errors.Is(err, cache.ErrFIFOClosed):
			return ctx.Err()
		case err != nil:
			return err
		}
	}
}

// drainDeltas drains client-go's DeltaFIFO, one delta at a time.
func drainDeltas(ctx context.Context, queue *cache.DeltaFIFO, each func(cache.Delta) error) error {
	return drain(ctx, queue, func() error {
		_, err := queue.Pop(func(obj any, _ bool) error { return forEach(obj.(cache.Deltas), each) })
		return err
	})
}

func forEach(deltas cache.Deltas, each func(cache.Delta) error) error {
	for _, d := range deltas {
		if err := each(d); err != nil {
			return err
		}
	}
	return nil
}

// newQueue returns client-go's DeltaFIFO, and the store whose objects it
// takes for known. Whoever drains the queue keeps the store.
func newQueue() (cache.Store, *cache.DeltaFIFO) {
	store := cache.NewStore(cache.DeletionHandlingMetaNamespaceKeyFunc)
	return store, cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{
		KeyFunction:  cache.MetaNamespaceKeyFunc,
		KnownObjects: store,
	})
}

// keep does to the store what the delta says has happened.
func keep(store cache.Store, d cache.Delta) error {
	if d.Type != cache.Deleted {
		return store.Add(d.Object)
	}
	return store.Delete(d.Object)
}

// showConfigMap prints a delta of a ConfigMap, or of its tombstone, and says
// errEnough after the last one.
func showConfigMap(s *kube.Session, d cache.Delta, last string) error {
	obj, note := d.Object, ""
	if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj, note = gone.Obj, " (a tombstone)"
	}
	configMap, ok := obj.(*corev1.ConfigMap)
	if !ok {
		return fmt.Errorf("want a ConfigMap, got %T", obj)
	}
	s.Printf("%s : %s%s\n", d.Type, configMap.Name, note)
	if last == fmt.Sprintf("%s %s", d.Type, configMap.Name) {
		return errEnough
	}
	return nil
}

// showPod prints a delta of a pod, and says errEnough after the last one.
func showPod(s *kube.Session, d cache.Delta, last string) error {
	pod, ok := d.Object.(*corev1.Pod)
	if !ok {
		return fmt.Errorf("want a pod, got %T", d.Object)
	}
	s.Printf("%s : %s : %s\n", d.Type, pod.Name, pod.Status.Phase)
	if last == fmt.Sprintf("%s %s", d.Type, pod.Name) {
		return errEnough
	}
	return nil
}
