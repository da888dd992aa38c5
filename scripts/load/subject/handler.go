// What a handler under load does: it notes what it sees.

package subject

import (
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/load/objects"
)

// A handler notes the last version of each object, and how long each change took
// to come.
type handler struct {
	mu       sync.Mutex
	versions []uint64 // by the object's number; 0 if it is not there
	events   int
	lags     []time.Duration // since they were last taken
}

var _ cache.ResourceEventHandler = (*handler)(nil)

func newHandler(objects int) *handler { return &handler{versions: make([]uint64, objects)} }

func (h *handler) OnAdd(obj any, isInInitialList bool) {
	entered := time.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	object := h.note(obj)
	if object != nil && !isInInitialList {
		h.changed(object, entered)
	}
}

func (h *handler) OnUpdate(_, obj any) {
	entered := time.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	if object := h.note(obj); object != nil {
		h.changed(object, entered)
	}
}

// OnDelete is never called: nobody deletes under this load.
func (h *handler) OnDelete(any) {}

// note returns nil for what is none of our objects, which the judge will miss.
func (h *handler) note(obj any) metav1.Object {
	object, ok := obj.(metav1.Object)
	if !ok {
		return nil
	}
	n, version, err := objects.Number(object)
	if err != nil || n >= len(h.versions) {
		return nil
	}
	h.versions[n] = version
	return object
}

func (h *handler) changed(object metav1.Object, entered time.Time) {
	h.events++
	h.lags = append(h.lags, entered.Sub(objects.Sent(object)))
}

// missing is how many objects were last seen in another version.
func (h *handler) missing(versions []uint64) (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, version := range versions {
		if h.versions[i] != version {
			n++
		}
	}
	return n
}

// handlers are all that one informer tells.
type handlers []*handler

// events since the sync.
func (hs handlers) events() (n int) {
	for _, h := range hs {
		h.mu.Lock()
		n += h.events
		h.mu.Unlock()
	}
	return n
}

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

func (hs handlers) missing(versions []uint64) (n int) {
	for _, h := range hs {
		n += h.missing(versions)
	}
	return n
}
