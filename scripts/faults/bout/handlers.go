// The ten handlers of an informer under test, of different kinds.

package bout

import (
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/faults/judge"
)

// The kinds. Those that are there from the start:
const (
	fast      = "fast"
	slow      = "slow"      // takes a millisecond for a call, on average
	stalled   = "stalled"   // does not return from a call while the fault lasts
	stuck     = "stuck"     // the same, and until the store is true again
	panicking = "panicking" // panics, twice, after it has written down the call
	resynced  = "resynced"  // is told of everything again every second
	gone      = "gone"      // is removed before the fault
	leaver    = "leaver"    // is removed in the midst of it
)

// and those that come later:
const (
	late = "late" // in the midst of the fault
	last = "last" // when the store is true again
)

var fromTheStart = []string{fast, slow, stalled, stuck, panicking, resynced, gone, leaver}

const (
	slowEvery    = 10
	slowness     = 10 * time.Millisecond
	slowCalls    = 10_000 // from then on it hurries, so that it can ever catch up
	resyncPeriod = time.Second
	panicEvery   = 50
	panics       = 2
)

// handler is one of an informer's.
type handler struct {
	*judge.Recorder
	gate         gate
	registration cache.ResourceEventHandlerRegistration
}

func newHandler(kind string) *handler {
	h := &handler{}
	var then func(int)
	switch kind {
	case slow:
		then = func(n int) {
			if n%slowEvery == 0 && n < slowCalls {
				time.Sleep(slowness)
			}
		}
	case stalled, stuck:
		then = func(int) { h.gate.pass() }
	case panicking:
		then = func(n int) {
			if n%panicEvery == 0 && n/panicEvery <= panics {
				panic("this handler panics at times")
			}
		}
	}
	h.Recorder = judge.NewRecorder(then)
	return h
}

// gate holds up a handler while it is shut. Only one goroutine opens and closes it.
type gate struct {
	mu   sync.RWMutex // locked while shut
	shut bool
}

func (g *gate) pass() {
	g.mu.RLock()
	defer g.mu.RUnlock()
}

func (g *gate) close() {
	g.mu.Lock()
	g.shut = true
}

func (g *gate) open() {
	if g.shut {
		g.shut = false
		g.mu.Unlock()
	}
}
