// A handler that checks its calls, for the model test.

package informer

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/record"
)

// A checker is a handler that records its calls, for the checks of package
// record. What only shows at the time of a call, it checks itself.
type checker struct {
	*record.Recorder
	name       string
	store      cache.Store
	slow       time.Duration // what each call takes
	lenient    bool          // no check that it has not synced too early
	panicEvery int           // each call of that many panics, if not 0, up to ten of them

	mu           sync.Mutex
	wake         sync.Cond // with mu: it is stalled no more
	stalled      bool
	gone         bool                                   // it was removed
	registration cache.ResourceEventHandlerRegistration // nil until the handler was added
	initial      int                                    // its first calls, for the initial list
	failure      error
}

func newChecker(name string, store cache.Store) *checker {
	h := &checker{name: name, store: store}
	h.Recorder = record.NewRecorder(h.take)
	h.wake.L = &h.mu
	return h
}

// OnAdd implements cache.ResourceEventHandler.
func (h *checker) OnAdd(obj any, initial bool) {
	h.mu.Lock()
	if initial {
		h.initial++
		if h.registration != nil && h.registration.HasSynced() && !h.lenient {
			h.failure = errors.Join(h.failure, errors.New("an add of the initial list, after the sync"))
		}
	}
	h.mu.Unlock()
	h.Recorder.OnAdd(obj, initial)
}

// take takes a call when it is recorded: the store must know that state, or
// something later. Then it behaves as it is meant to behave.
func (h *checker) take(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	calls, _ := h.Calls()
	call := calls[n-1]
	if item, exists, _ := h.store.GetByKey(call.Key); exists && call.Method != "OnDelete" {
		if stored := number(item.(record.Object)); stored < number(call.New) {
			h.failure = errors.Join(h.failure, fmt.Errorf("%v, when the store has %d", call, stored))
		}
	}
	for h.stalled {
		h.wake.Wait()
	}
	if h.slow > 0 {
		h.mu.Unlock()
		time.Sleep(h.slow)
		h.mu.Lock()
	}
	if h.panicEvery > 0 && n%h.panicEvery == 0 && n/h.panicEvery <= 10 {
		panic("ouch")
	}
}

func number(o record.Object) int {
	n, _ := strconv.Atoi(o.GetResourceVersion())
	return n
}

// stall makes it wait in its next call, or no more.
func (h *checker) stall(stalled bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stalled = stalled
	h.wake.Broadcast()
}

// leave says that it was removed: no call is to come.
func (h *checker) leave(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.Removed(0)
	h.gone, h.failure = true, errors.Join(h.failure, err)
}

// check reports what is wrong with the calls so far: each must fit those before
// it, and have objects that came from the server. At a quiet point, the handler
// must know what the store holds.
func (h *checker) check(sent map[record.Object]bool, informerSynced bool) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	calls, found := h.Calls()
	found = append(found, record.CheckCalls(calls)...)
	for i, call := range calls {
		if !sent[call.Old] || !sent[call.New] {
			found = append(found, fmt.Errorf("call %d, %v: it was never sent", i+1, call))
		}
	}
	stored, err := record.Cached(h.store)
	found = append(found, err, h.failure)
	if !h.gone && !h.stalled {
		if synced := h.registration.HasSynced(); synced != informerSynced {
			found = append(found, fmt.Errorf("synced: %t, the informer: %t", synced, informerSynced))
		}
		if want := record.Versions(stored); h.Behind(want) {
			found = append(found, fmt.Errorf("it does not know what the store holds: %v", want))
		}
	}
	if err := errors.Join(found...); err != nil {
		return fmt.Errorf("%s: %w", h.name, err)
	}
	return nil
}

// changes are the calls since its initial list, but for those that change nothing.
func (h *checker) changes() (all []string) {
	calls, _ := h.Calls()
	for _, call := range calls[h.initial:] {
		if call.Old == nil || number(call.Old) != number(call.New) {
			all = append(all, call.String())
		}
	}
	return all
}
