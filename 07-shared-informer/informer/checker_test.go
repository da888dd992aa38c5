package informer_test

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/record"
)

// A checker is a handler for the model test. It records its calls, for the checks of package
// record. At the time of each call it compares the call with the store.
type checker struct {
	*record.Recorder
	name       string
	store      cache.Store
	slow       time.Duration // the duration of each call
	lenient    bool          // do not check whether it has synced too early
	panicEvery int           // if not 0, every call with a multiple of this number panics, up to ten of them

	mu           sync.Mutex
	wake         sync.Cond // with mu; signals the end of a stall
	stalled      bool
	removed      bool
	registration cache.ResourceEventHandlerRegistration // nil before the handler was added
	initial      int                                    // the number of calls for the initial list
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
			err := fmt.Errorf("OnAdd of %v with isInInitialList, but HasSynced() = true already", obj)
			h.failure = errors.Join(h.failure, err)
		}
	}
	h.mu.Unlock()
	h.Recorder.OnAdd(obj, initial)
}

// take is called with the number of each call. It checks that the store has the state of the call,
// or a later one. Then it stalls, waits or panics, as the scenario wants.
func (h *checker) take(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	calls, _ := h.Calls()
	call := calls[n-1]
	if item, exists, _ := h.store.GetByKey(call.Key); exists && call.Method != "OnDelete" {
		if stored := number(item.(record.Object)); stored < number(call.New) {
			h.failure = errors.Join(h.failure, fmt.Errorf("%v, but the store has the older version %d", call, stored))
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

// stall makes the handler wait in its next call, or ends that wait.
func (h *checker) stall(stalled bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stalled = stalled
	h.wake.Broadcast()
}

// leave records that the handler was removed: no further call may come.
func (h *checker) leave(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.Removed(0)
	h.removed = true
	h.failure = errors.Join(h.failure, err)
}

// check returns the errors of the calls so far. Each call must fit the calls before it, and its
// objects must come from the server. The scenario is at a quiet point: the handler must have the
// state of the store.
func (h *checker) check(sent map[record.Object]bool, informerSynced bool) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	calls, found := h.Calls()
	found = append(found, record.CheckCalls(calls)...)
	for i, call := range calls {
		if !sent[call.Old] || !sent[call.New] {
			found = append(found, fmt.Errorf("call %d, %v: the server has never sent this object", i+1, call))
		}
	}
	stored, err := record.Cached(h.store)
	found = append(found, err, h.failure)
	if !h.removed && !h.stalled {
		if synced := h.registration.HasSynced(); synced != informerSynced {
			found = append(found, fmt.Errorf("HasSynced() = %t, and %t for the informer", synced, informerSynced))
		}
		if want := record.Versions(stored); h.Behind(want) {
			found = append(found, fmt.Errorf("its calls do not lead to the state of the store: %v", want))
		}
	}
	if err := errors.Join(found...); err != nil {
		return fmt.Errorf("%s: %w", h.name, err)
	}
	return nil
}

// changes are the calls after the initial list, without those that change nothing.
func (h *checker) changes() (lines []string) {
	calls, _ := h.Calls()
	for _, call := range calls[h.initial:] {
		if call.Old == nil || number(call.Old) != number(call.New) {
			lines = append(lines, call.String())
		}
	}
	return lines
}
