package main

import (
	"context"
	"fmt"
	"io"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/01-deltafifo/deltafifo"
)

// replace hands a queue a whole new list, as a reflector does when it cannot
// go on with its watch. pod1 and pod3 went in the meantime; nobody saw them go.
func replace(_ context.Context, out io.Writer) error {
	for _, emit := range []bool{false, true} {
		fmt.Fprintln(out, "# EmitDeltaTypeReplaced:", emit)
		queue := deltafifo.New(deltafifo.Options{
			KeyFunction:           podKey,
			KnownObjects:          shelf{"pod1": pod1, "pod2": pod2, "pod3": pod3},
			EmitDeltaTypeReplaced: emit,
		})
		if err := queue.Replace([]any{pod{"pod2", 2.2}, pod{"pod4", 4}}, ""); err != nil {
			return err
		}
		if err := showAll(out, queue); err != nil {
			return err
		}
	}
	return nil
}

// unwrap returns the pod of a delta, out of its tombstone if need be: a bare
// obj.(pod) would panic there, and the tombstone may hold nothing but a key.
func unwrap(obj any) (p pod, note string, err error) {
	if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj, note = gone.Obj, " (a tombstone: as it was last seen)"
	}
	p, ok := obj.(pod)
	if !ok {
		return pod{}, "", fmt.Errorf("want a pod or its tombstone, got %T", obj)
	}
	return p, note, nil
}
