// An informer under test, with its handlers.

package main

import (
	"maps"
	"time"

	"k8s.io/client-go/tools/cache"
)

// testInformer watches one resource, in all namespaces.
type testInformer struct {
	cache.SharedIndexInformer
	implementation
	resource string
	handlers map[string]*handler // by kind
}

// add adds a handler of this kind.
func (i *testInformer) add(kind string) error {
	h := newHandler(kind)
	resync := time.Duration(0)
	if kind == resynced {
		resync = resyncPeriod
	}
	var err error
	h.registration, err = i.AddEventHandlerWithResyncPeriod(h, resync)
	i.handlers[kind] = h
	return err
}

// remove removes the handler of this kind.
func (i *testInformer) remove(kind string) error {
	h := i.handlers[kind]
	defer h.Removed(i.inFlight)
	return i.RemoveEventHandler(h.registration)
}

// synced says whether every handler has synced, except for the one that panics. That one may never
// sync, because client-go counts only calls that return.
func (i *testInformer) synced() bool {
	return allMatch(maps.Values(i.handlers), func(h *handler) bool {
		return h == i.handlers[panicking] || h.registration.HasSynced()
	})
}
