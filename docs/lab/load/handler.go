// What a handler under load does: it notes what it sees.

package main

import (
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// A handler notes the last version of each object, and how long each change took
// to come.
type handler struct {
	mu       sync.Mutex
	versions []uint64        // by the object's number; 0 if it is not there
	lags     []time.Duration // since they were last taken
}

var _ cache.ResourceEventHandler = (*handler)(nil)

func newHandler(objects int) *handler { return &handler{versions: make([]uint64, objects)} }

func (h *handler) OnAdd(obj any, isInInitialList bool) { h.note(obj, !isInInitialList) }

func (h *handler) OnUpdate(_, obj any) { h.note(obj, true) }

// OnDelete is never called: nobody deletes under this load.
func (h *handler) OnDelete(any) {}

// note leaves out what is none of our objects, which missing will miss.
func (h *handler) note(obj any, changed bool) {
	entered := time.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	object := obj.(*corev1.ConfigMap)
	n, version, err := number(object)
	if err != nil || n >= len(h.versions) {
		return
	}
	h.versions[n] = version
	if changed {
		h.lags = append(h.lags, entered.Sub(sent(object)))
	}
}

// handlers are all that one informer notifies.
type handlers []*handler

// lags takes what was noted since the last time, of all handlers, in order.
func (hs handlers) lags() (all []time.Duration) {
	for _, h := range hs {
		h.mu.Lock()
		all = append(all, h.lags...)
		h.lags = nil
		h.mu.Unlock()
	}
	slices.Sort(all)
	return all
}

// missing is how many objects were last seen in another version, by all handlers
// together.
func (hs handlers) missing(versions []uint64) (n int) {
	for _, h := range hs {
		h.mu.Lock()
		for i, version := range versions {
			if h.versions[i] != version {
				n++
			}
		}
		h.mu.Unlock()
	}
	return n
}
