// A handler of the demonstration: it takes its time, or all the time there is.

package xray

import (
	"context"
	"sync"
	"time"

	"example.com/informer/03-reflector/observer"
	"example.com/informer/07-shared-informer/xray/recorder"
)

// A handler is in both lanes, and has one pace, which can be changed even within a call.
type handler struct {
	ctx  context.Context // when it ends, every call returns at once
	name string
	undo []func() error // they remove it from the informers

	mu      sync.Mutex
	pace    string
	changed chan struct{} // closed, and made anew, when the pace changes
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

// work does nothing, for as long as the pace says.
func (h *handler) work() {
	for {
		pace, changed := h.current()
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

// A laneHandler is what the informer of one lane calls. It implements
// cache.ResourceEventHandler.
type laneHandler struct {
	*handler
	observer observer.Observer // of its calls; nil if the informer reports them itself
}

// Name is what the informer calls it.
func (h laneHandler) Name() string { return h.name }

func (h laneHandler) OnAdd(obj any, isInInitialList bool) {
	h.call(observer.Event{Type: "ADDED", New: obj, Initial: isInInitialList})
}
func (h laneHandler) OnUpdate(oldObj, newObj any) {
	h.call(observer.Event{Type: "MODIFIED", Old: oldObj, New: newObj})
}
func (h laneHandler) OnDelete(obj any) { h.call(observer.Event{Type: "DELETED", New: obj}) }

func (h laneHandler) call(e observer.Event) {
	begun := time.Now()
	h.work()
	if h.observer != nil {
		e.Kind, e.Handler, e.Key, e.Took = observer.Called, h.name, keyOf(e.New), time.Since(begun)
		h.observer.Observe(e)
	}
}
