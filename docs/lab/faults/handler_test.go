// The handlers of the informers under test.

package faults

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

	// These are added later.
	addedDuring = "added during" // during the fault
	addedAfter  = "added after"  // when the store is up to date again
)

const resyncPeriod = time.Second

// handler is a recorder that can be slow, stall, or panic.
type handler struct {
	*record.Recorder
	registration cache.ResourceEventHandlerRegistration
	gate         sync.RWMutex // locked while the handler stalls
	resume       func()       // unlocks the gate; does nothing if the handler does not stall
}

func newHandler(kind string) *handler {
	h := &handler{resume: func() {}}
	var after func(n int) // called in the n-th call of the handler, after the recorder has recorded it
	switch kind {
	case slow:
		after = func(n int) {
			if n%10 == 0 && n < 10_000 { // later it is fast, so that it can catch up
				time.Sleep(10 * time.Millisecond)
			}
		}
	case stalled, stuck:
		after = func(int) {
			h.gate.RLock()
			defer h.gate.RUnlock()
		}
	case panicking:
		after = func(n int) {
			if n == 50 || n == 100 {
				panic("this handler panics at times")
			}
		}
	}
	h.Recorder = record.NewRecorder(after)
	return h
}

// stall makes the next call last until resume.
func (h *handler) stall() {
	h.gate.Lock()
	h.resume = sync.OnceFunc(h.gate.Unlock)
}
