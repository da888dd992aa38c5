// Claims of the book about tombstones, keys and closed queues, for both queues of client-go.

package main

import (
	"errors"
	"testing"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/01-deltafifo/deltafifo"
	"example.com/informer/scripts/harness/must"
)

func TestABareCastOfATombstonePanics(t *testing.T) {
	queue := cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{
		KeyFunction:  podKey,
		KnownObjects: knownPods{"pod1": pod1},
	})
	must.NoError(t, queue.Replace(nil, ""))
	_, err := queue.Pop(func(obj any, _ bool) error {
		object := obj.(cache.Deltas).Newest().Object
		defer func() {
			if recover() == nil {
				t.Errorf("the cast of a %T to a pod did not panic", object)
			}
		}()
		_ = object.(pod)
		return nil
	})
	must.NoError(t, err)
}

// An emptyLister lists a key, and has no object for it. GetByKey returns err.
type emptyLister struct{ err error }

func (emptyLister) ListKeys() []string                   { return []string{"pod1"} }
func (k emptyLister) GetByKey(string) (any, bool, error) { return nil, false, k.err }

func TestATombstoneCanBeEmpty(t *testing.T) {
	for _, known := range []emptyLister{{}, {errors.New("no answer")}} {
		for _, queue := range []cache.Queue{
			cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{KeyFunction: podKey, KnownObjects: known}),
			newRealFIFO(known),
		} {
			must.NoError(t, queue.Replace(nil, ""))
			_, err := queue.Pop(func(obj any, _ bool) error {
				got := obj.(cache.Deltas).Newest().Object
				want := cache.DeletedFinalStateUnknown{Key: "pod1", Obj: nil}
				if got != any(want) {
					t.Errorf("%T: popped %+v, want %+v", queue, got, want)
				}
				return nil
			})
			must.NoError(t, err)
		}
	}
}

func TestTheKeyOfDeltasAndOfATombstone(t *testing.T) {
	theirs, ours := newDeltaFIFO(), deltafifo.New(deltafifo.Options{KeyFunction: podKey})
	tombstone := cache.DeletedFinalStateUnknown{Key: "pod2", Obj: pod1} // the key of its object does not count
	deltas := cache.Deltas{{Type: cache.Added, Object: pod1}, {Type: cache.Deleted, Object: tombstone}}
	for _, test := range []struct {
		name             string
		obj              any
		theirKey, ourKey string // empty: an error
	}{
		{name: "a pod", obj: pod1, theirKey: "pod1", ourKey: "pod1"},
		{name: "a tombstone", obj: tombstone, theirKey: "pod2", ourKey: "pod2"},
		{name: "deltas", obj: deltas, theirKey: "pod2"}, // of the newest delta
		{name: "one delta", obj: deltas[:1], theirKey: "pod1"},
		{name: "no deltas", obj: cache.Deltas{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			wantKey(t, "client-go's KeyOf", theirs.KeyOf, test.obj, test.theirKey)
			wantKey(t, "our KeyOf", ours.KeyOf, test.obj, test.ourKey)
		})
	}
	_, err := theirs.KeyOf(cache.Deltas{})
	if !errors.Is(err, cache.ErrZeroLengthDeltasObject) {
		t.Errorf("KeyOf() of no deltas: error %v, want %v", err, cache.ErrZeroLengthDeltasObject)
	}
}

// wantKey checks the key of an object. An empty key means that the key function must return an
// error.
func wantKey(t *testing.T, name string, keyOf cache.KeyFunc, obj any, want string) {
	t.Helper()
	key, err := keyOf(obj)
	if key != want {
		t.Errorf("%s(%v) = %q, want %q", name, obj, key, want)
	}
	if want == "" && err == nil {
		t.Errorf("%s(%v): no error, want one", name, obj)
	}
	if want != "" && err != nil {
		t.Errorf("%s(%v): error %v, want none", name, obj, err)
	}
}

func TestTheTwoPartsOfAKey(t *testing.T) {
	for _, test := range []struct {
		key, namespace, name string
		isError              bool
	}{
		{key: "kube-system/coredns", namespace: "kube-system", name: "coredns"},
		{key: "node-1", namespace: "", name: "node-1"},
		{key: "a/b/c", isError: true},
	} {
		namespace, name, err := cache.SplitMetaNamespaceKey(test.key)
		if namespace != test.namespace || name != test.name || (err != nil) != test.isError {
			t.Errorf("SplitMetaNamespaceKey(%q) = %q, %q, %v; want %q, %q, an error: %t",
				test.key, namespace, name, err, test.namespace, test.name, test.isError)
		}
	}
}

// A loop that ignores the error of Pop never ends and never waits again.
func TestPopOnAClosedQueueReturnsAtOnceEveryTime(t *testing.T) {
	for _, queue := range []cache.Queue{newDeltaFIFO(), newRealFIFO(knownPods{})} {
		queue.Close()
		for range 3 {
			_, err := queue.Pop(func(any, bool) error { return nil })
			if err != cache.ErrFIFOClosed {
				t.Errorf("%T: Pop() = %v, want %v", queue, err, cache.ErrFIFOClosed)
			}
		}
	}
}
