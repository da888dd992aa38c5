// A handler of the demonstration: it takes its time, or all the time there is.

package xray

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"
)

// The paces of a handler.
const (
	fast    = "fast"
	slow    = "slow"    // slowCall for each call
	stalled = "stalled" // it does not return until its pace changes
)

const slowCall = 200 * time.Millisecond

var paces = []string{fast, slow, stalled}

// A handler does nothing, at a pace that can be changed, even within a call.
type handler struct {
	name     string
	returned func(change string, obj any, took time.Duration) // is called after each call; may be nil
	left     chan struct{}                                    // closed by leave: every call returns at once
	leave    func()
	inCall   atomic.Bool

	mu      sync.Mutex
	pace    string
	changed chan struct{} // closed, and made anew, when the pace changes
}

var _ cache.ResourceEventHandler = (*handler)(nil)

func newHandler(name, pace string) *handler {
	h := &handler{name: name, pace: pace, left: make(chan struct{}), changed: make(chan struct{})}
	h.leave = sync.OnceFunc(func() { close(h.left) })
	return h
}

// Name is what the informer calls it.
func (h *handler) Name() string { return h.name }

// OnAdd implements cache.ResourceEventHandler.
func (h *handler) OnAdd(obj any, isInInitialList bool) {
	if isInInitialList {
		h.call("initial", obj)
	} else {
		h.call("add", obj)
	}
}

// OnUpdate implements cache.ResourceEventHandler.
func (h *handler) OnUpdate(oldObj, newObj any) {
	h.call(changeOf("MODIFIED", oldObj, newObj, false), newObj)
}

// OnDelete implements cache.ResourceEventHandler.
func (h *handler) OnDelete(obj any) { h.call(changeOf("DELETED", nil, obj, false), obj) }

func (h *handler) call(change string, obj any) {
	begun := time.Now()
	h.inCall.Store(true)
	h.work()
	h.inCall.Store(false)
	if h.returned != nil {
		h.returned(change, obj, time.Since(begun))
	}
}

// work lasts as long as the pace says.
func (h *handler) work() {
	for {
		pace, changed := h.current()
		var enough <-chan time.Time // never, if the handler stalls
		switch pace {
		case fast:
			return
		case slow:
			enough = time.After(slowCall)
		}
		select {
		case <-enough:
			return
		case <-h.left:
			return
		case <-changed:
		}
	}
}

func (h *handler) current() (pace string, changed <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.pace, h.changed
}

func (h *handler) setPace(pace string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.pace = pace
	close(h.changed)
	h.changed = make(chan struct{})
}

// A member is a handler in both lanes.
type member struct {
	lanes [2]*handler // ours, client-go's; the second is nil if there is no such lane
	undo  [2]func() error
}

func (m *member) each(do func(*handler)) {
	for _, h := range m.lanes {
		if h != nil {
			do(h)
		}
	}
}

func isPace(pace string) bool { return slices.Contains(paces, pace) }

// changeOf is what happened to an object, in one word.
func changeOf(kind string, before, after any, initial bool) string {
	switch {
	case initial:
		return "initial"
	case kind == "ADDED":
		return "add"
	case kind == "MODIFIED" && versionOf(before) == versionOf(after) && versionOf(after) != "":
		return "resync"
	case kind == "MODIFIED":
		return "update"
	}
	if _, ok := after.(cache.DeletedFinalStateUnknown); ok {
		return "tombstone"
	}
	return "delete"
}

func versionOf(obj any) string {
	about, err := meta.Accessor(obj)
	if err != nil {
		return ""
	}
	return about.GetResourceVersion()
}
