// The pods, the queues and the checks that the tests of this chapter share.

package main

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/must"
)

var pod1, pod2, pod3 = pod{"pod1", 1}, pod{"pod2", 2}, pod{"pod3", 3}

// newDeltaFIFO returns client-go's DeltaFIFO for pods. It has no known objects.
func newDeltaFIFO() *cache.DeltaFIFO {
	return cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{KeyFunction: podKey})
}

// newRealFIFO returns client-go's RealFIFO for pods.
func newRealFIFO(known cache.KeyListerGetter) *cache.RealFIFO {
	return cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{KeyFunction: podKey, KnownObjects: known})
}

// newAtomicRealFIFO returns client-go's RealFIFO for pods, with AtomicEvents.
func newAtomicRealFIFO() *cache.RealFIFO {
	return cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{KeyFunction: podKey, AtomicEvents: true})
}

// deltaTypes are the types of the deltas that one Pop returns.
type deltaTypes = []cache.DeltaType

// wantPops closes the queue, pops until the queue is empty, and compares the types of the deltas of
// each Pop.
func wantPops(t *testing.T, queue cache.Queue, want ...deltaTypes) {
	t.Helper()
	queue.Close()
	var got []deltaTypes
	for {
		_, err := queue.Pop(func(obj any, _ bool) error {
			var types deltaTypes
			for _, delta := range obj.(cache.Deltas) {
				types = append(types, delta.Type)
			}
			got = append(got, types)
			return nil
		})
		if errors.Is(err, cache.ErrFIFOClosed) {
			break
		}
		must.NoError(t, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%T: types of the popped deltas (-want +got):\n%s", queue, diff)
	}
}

// popOne pops the deltas of one key, and ignores them.
func popOne(t *testing.T, queue cache.Queue) {
	t.Helper()
	_, err := queue.Pop(func(any, bool) error { return nil })
	must.NoError(t, err)
}
