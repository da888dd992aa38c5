// The ten handlers of an informer under test.

package scenario

import (
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/record"
)

// The kinds of handlers. These are added before the informer starts:
const (
	fast          = "fast"
	slow          = "slow"           // takes a millisecond for a call, on average
	stalled       = "stalled"        // does not return from a call while the fault lasts
	stuck         = "stuck"          // does not return until the store is up to date again
	panicking     = "panicking"      // panics, twice, after it has recorded the call
	resynced      = "resynced"       // gets a resync every second
	removedBefore = "removed before" // is removed before the fault
	removedDuring = "removed during" // is removed during the fault
)

// These are added later:
const (
	addedDuring = "added during" // during the fault
	addedAfter  = "added after"  // when the store is up to date again
)

var initialHandlers = []string{fast, slow, stalled, stuck, panicking, resynced, removedBefore, removedDuring}

const (
	slowEvery    = 10
	slowness     = 10 * time.Millisecond
	slowCalls    = 10_000 // then it is fast, to catch up at all
	resyncPeriod = time.Second
	panicEvery   = 50
	panics       = 2
)

// handler is a recorder that can be slow, blocked, or panic.
type handler struct {
	*record.Recorder
	gate         gate
	registration cache.ResourceEventHandlerRegistration
}

func newHandler(kind string) *handler {
	h := &handler{}
	var after func(int)
	switch kind {
	case slow:
		after = func(n int) {
			if n%slowEvery == 0 && n < slowCalls {
				time.Sleep(slowness)
			}
		}
	case stalled, stuck:
		after = func(int) { h.gate.pass() }
	case panicking:
		after = func(n int) {
			if n%panicEvery == 0 && n/panicEvery <= panics {
				panic("this handler panics at times")
			}
		}
	}
	h.Recorder = record.NewRecorder(after)
	return h
}

// gate blocks a handler while it is shut. Only one goroutine opens and closes it.
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
