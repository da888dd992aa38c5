// A handler of the demonstration: it takes its time, or all the time there is.

package xray

import (
	"context"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/03-reflector/observer"
	"example.com/informer/07-shared-informer/xray/recorder"
)

// A handler is in both lanes. Its pace can be changed, even within a call.
type handler struct {
	ctx  context.Context // when it ends, every call returns at once
	name string
	undo []func() error // they remove it from the informers

	mu      sync.Mutex
	pace    string
	changed chan struct{} // closed, and made anew, when the pace changes
}

func (h *handler) setPace(pace string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.pace = pace
	close(h.changed)
	h.changed = make(chan struct{})
}

// work does nothing, for as long as the pace says.
func (h *handler) work() {
	for {
		h.mu.Lock()
		pace, changed := h.pace, h.changed
		h.mu.Unlock()
		var enough <-chan time.Time // never, if the handler stalls
		switch pace {
		case recorder.Fast:
			return
		case recorder.Slow:
			enough = time.After(recorder.SlowCall)
		}
		select {
		case <-enough:
			return
		case <-h.ctx.Done():
			return
		case <-changed:
		}
	}
}

// A laneHandler is what the informer of one lane calls, by its name.
type laneHandler struct {
	cache.ResourceEventHandlerDetailedFuncs
	name string
}

// Name is what our informer calls it.
func (l laneHandler) Name() string { return l.name }

// in is the handler in one lane. The observer, if it is not nil, is told of its calls.
func (h *handler) in(seen observer.Observer) cache.ResourceEventHandler {
	call := func(e observer.Event) {
		begun := time.Now()
		if h.work(); seen != nil {
			e.Kind, e.Handler, e.Key, e.Took = observer.Called, h.name, keyOf(e.New), time.Since(begun)
			seen.Observe(e)
		}
	}
	return laneHandler{cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(obj any, initial bool) {
			call(observer.Event{Type: "ADDED", New: obj, Initial: initial})
		},
		UpdateFunc: func(before, after any) { call(observer.Event{Type: "MODIFIED", Old: before, New: after}) },
		DeleteFunc: func(obj any) { call(observer.Event{Type: "DELETED", New: obj}) },
	}, h.name}
}
