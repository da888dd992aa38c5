// A handler that checks its calls, for the model test.

package informer

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// A checker is a handler that keeps what it was called with, and finds what
// cannot be.
type checker struct {
	name       string
	server     *modelServer
	store      cache.Store
	slow       time.Duration // what each call takes
	lenient    bool          // no check that it has not synced too early
	panicEvery int           // each call of that many panics, if not 0, up to ten of them

	mu           sync.Mutex
	wake         sync.Cond // with mu: it is stalled no more
	stalled      bool
	gone         bool                                   // it was removed
	registration cache.ResourceEventHandlerRegistration // nil until the handler was added
	calls        int
	state        map[string]*corev1.ConfigMap
	newest       map[string]int // the highest version of each object that it ever got
	changes      []change       // what has changed since its initial list
	failure      error          // the first thing that cannot be
}

// A change is what a call says.
type change struct{ method, name, version string }

func newChecker(name string, server *modelServer, store cache.Store) *checker {
	h := &checker{name: name, server: server, store: store, state: map[string]*corev1.ConfigMap{},
		newest: map[string]int{}}
	h.wake.L = &h.mu
	return h
}

// OnAdd implements cache.ResourceEventHandler.
func (h *checker) OnAdd(obj any, initial bool) {
	h.take(func() error {
		c := obj.(*corev1.ConfigMap)
		if known := h.state[c.Name]; known != nil {
			return fmt.Errorf("add of %s, which it knows as %s", show(c), show(known))
		}
		if synced := h.registration != nil && h.registration.HasSynced(); initial && synced && !h.lenient {
			return fmt.Errorf("add of %s, in the initial list, after the sync", show(c))
		}
		if !initial {
			h.changes = append(h.changes, change{"OnAdd", c.Name, c.ResourceVersion})
		}
		return h.setState(c, true)
	})
}

// OnUpdate implements cache.ResourceEventHandler.
func (h *checker) OnUpdate(oldObj, newObj any) {
	h.take(func() error {
		before, c := oldObj.(*corev1.ConfigMap), newObj.(*corev1.ConfigMap)
		known := h.state[c.Name]
		switch {
		case known == nil:
			return fmt.Errorf("update of %s, which it does not know", show(c))
		case before.ResourceVersion != known.ResourceVersion || before.Name != known.Name || !h.server.hasSent(before):
			return fmt.Errorf("update to %s from %s, which it knows as %s", show(c), show(before), show(known))
		}
		unchanged := c.ResourceVersion == known.ResourceVersion
		if !unchanged {
			h.changes = append(h.changes, change{"OnUpdate", c.Name, c.ResourceVersion})
		}
		return h.setState(c, !unchanged)
	})
}

// OnDelete implements cache.ResourceEventHandler.
func (h *checker) OnDelete(obj any) {
	h.take(func() error {
		tombstone, unseen := obj.(cache.DeletedFinalStateUnknown)
		if unseen {
			obj = tombstone.Obj
		}
		c := obj.(*corev1.ConfigMap)
		if unseen && tombstone.Key != "ns/"+c.Name {
			return fmt.Errorf("tombstone %s of %s", tombstone.Key, show(c))
		}
		known := h.state[c.Name]
		if known == nil {
			return fmt.Errorf("delete of %s, which it does not know", show(c))
		}
		delete(h.state, c.Name)
		h.changes = append(h.changes, change{"OnDelete", c.Name, c.ResourceVersion})
		newer := c.ResourceVersion != known.ResourceVersion
		if !newer && !unseen {
			return fmt.Errorf("delete of %s in the version in which it lived", show(c))
		}
		return h.verify(c, newer)
	})
}

// setState takes a state that is true now.
func (h *checker) setState(c *corev1.ConfigMap, newer bool) error {
	h.state[c.Name] = c
	return h.verify(c, newer)
}

// verify checks a state: it was sent, it is newer than all before if it should be,
// and the store knows it already, or something later.
func (h *checker) verify(c *corev1.ConfigMap, newer bool) error {
	version := number(c)
	if newest := h.newest[c.Name]; version < newest || newer && version == newest {
		return fmt.Errorf("called with %s, and with version %d before", show(c), newest)
	}
	h.newest[c.Name] = version
	if !h.server.hasSent(c) {
		return fmt.Errorf("called with %s, which was never sent", show(c))
	}
	if stored, exists, _ := h.store.GetByKey("ns/" + c.Name); exists && number(stored.(*corev1.ConfigMap)) < version &&
		h.state[c.Name] == c {
		return fmt.Errorf("called with %s, when the store has %s", show(c), show(stored.(*corev1.ConfigMap)))
	}
	return nil
}

// take takes a call: it checks it, and behaves as it is meant to behave.
func (h *checker) take(check func() error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls++
	err := check()
	if h.gone {
		err = fmt.Errorf("a call after its removal (%v)", err)
	}
	if h.failure == nil && err != nil {
		h.failure = fmt.Errorf("%s, call %d: %w", h.name, h.calls, err)
	}
	for h.stalled {
		h.wake.Wait()
	}
	if h.slow > 0 {
		h.mu.Unlock()
		time.Sleep(h.slow)
		h.mu.Lock()
	}
	if h.panicEvery > 0 && h.calls%h.panicEvery == 0 && h.calls/h.panicEvery <= 10 {
		panic("ouch")
	}
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
	h.gone, h.failure = true, errors.Join(h.failure, err)
}

// check reports the first wrong call so far; at a quiet point, the handler must
// know what the store holds.
func (h *checker) check(informerSynced bool) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.failure != nil || h.gone || h.stalled {
		return h.failure
	}
	if synced := h.registration.HasSynced(); synced != informerSynced {
		return fmt.Errorf("%s: synced: %t, the informer: %t", h.name, synced, informerSynced)
	}
	stored := map[string]*corev1.ConfigMap{}
	for _, obj := range h.store.List() {
		stored[obj.(*corev1.ConfigMap).Name] = obj.(*corev1.ConfigMap)
	}
	if got, want := list(h.state), list(stored); !slices.Equal(got, want) {
		return fmt.Errorf("%s: knows %v, the store holds %v", h.name, got, want)
	}
	return nil
}

func number(c *corev1.ConfigMap) int {
	n, _ := strconv.Atoi(c.ResourceVersion)
	return n
}

func show(c *corev1.ConfigMap) string {
	return fmt.Sprintf("%s@%s(%s)", c.Name, c.ResourceVersion, c.UID)
}

// list is what a map holds, sorted.
func list(all map[string]*corev1.ConfigMap) (text []string) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		text = append(text, show(all[name]))
	}
	return text
}
