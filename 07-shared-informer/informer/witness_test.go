// A handler that checks all that it is told, for the model test.

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

// A witness knows what it was told, and finds what cannot be.
type witness struct {
	name  string
	world *world
	store cache.Store
	slow  time.Duration // what each call takes
	tame  bool          // it is not asked whether it has synced too early
	scary int           // each such call panics, if not 0, until there were ten

	mu           sync.Mutex
	wake         sync.Cond // with mu: it is stalled no more
	stalled      bool
	gone         bool                                   // it was removed
	registration cache.ResourceEventHandlerRegistration // nil until it is known
	calls        int
	knows        map[string]*corev1.ConfigMap
	newest       map[string]int // the highest version that was ever told
	tale         []change       // what has changed since its initial list
	wrong        error          // the first thing that cannot be
}

// A change is what a call says.
type change struct{ method, name, version string }

func newWitness(name string, w *world, store cache.Store) *witness {
	witness := &witness{name: name, world: w, store: store, knows: map[string]*corev1.ConfigMap{},
		newest: map[string]int{}}
	witness.wake.L = &witness.mu
	return witness
}

// OnAdd implements cache.ResourceEventHandler.
func (w *witness) OnAdd(obj any, initial bool) {
	w.take(func() error {
		c := obj.(*corev1.ConfigMap)
		if known := w.knows[c.Name]; known != nil {
			return fmt.Errorf("add of %s, which it knows as %s", show(c), show(known))
		}
		if synced := w.registration != nil && w.registration.HasSynced(); initial && synced && !w.tame {
			return fmt.Errorf("add of %s, in the initial list, after the sync", show(c))
		}
		if !initial {
			w.tale = append(w.tale, change{"OnAdd", c.Name, c.ResourceVersion})
		}
		return w.learn(c, true)
	})
}

// OnUpdate implements cache.ResourceEventHandler.
func (w *witness) OnUpdate(oldObj, newObj any) {
	w.take(func() error {
		before, c := oldObj.(*corev1.ConfigMap), newObj.(*corev1.ConfigMap)
		known := w.knows[c.Name]
		switch {
		case known == nil:
			return fmt.Errorf("update of %s, which it does not know", show(c))
		case before.ResourceVersion != known.ResourceVersion || before.Name != known.Name || !w.world.said(before):
			return fmt.Errorf("update to %s from %s, which it knows as %s", show(c), show(before), show(known))
		}
		unchanged := c.ResourceVersion == known.ResourceVersion
		if !unchanged {
			w.tale = append(w.tale, change{"OnUpdate", c.Name, c.ResourceVersion})
		}
		return w.learn(c, !unchanged)
	})
}

// OnDelete implements cache.ResourceEventHandler.
func (w *witness) OnDelete(obj any) {
	w.take(func() error {
		tombstone, unseen := obj.(cache.DeletedFinalStateUnknown)
		if unseen {
			obj = tombstone.Obj
		}
		c := obj.(*corev1.ConfigMap)
		if unseen && tombstone.Key != "ns/"+c.Name {
			return fmt.Errorf("tombstone %s of %s", tombstone.Key, show(c))
		}
		known := w.knows[c.Name]
		if known == nil {
			return fmt.Errorf("delete of %s, which it does not know", show(c))
		}
		delete(w.knows, c.Name)
		w.tale = append(w.tale, change{"OnDelete", c.Name, c.ResourceVersion})
		newer := c.ResourceVersion != known.ResourceVersion
		if !newer && !unseen {
			return fmt.Errorf("delete of %s in the version in which it lived", show(c))
		}
		return w.wise(c, newer)
	})
}

// learn takes a state that is true now.
func (w *witness) learn(c *corev1.ConfigMap, newer bool) error {
	w.knows[c.Name] = c
	return w.wise(c, newer)
}

// wise checks a state: it was sent, it is newer than all before if it should be,
// and the store knows it already, or something later.
func (w *witness) wise(c *corev1.ConfigMap, newer bool) error {
	version := number(c)
	if newest := w.newest[c.Name]; version < newest || newer && version == newest {
		return fmt.Errorf("told of %s, and of version %d before", show(c), newest)
	}
	w.newest[c.Name] = version
	if !w.world.said(c) {
		return fmt.Errorf("told of %s, which was never sent", show(c))
	}
	if stored, exists, _ := w.store.GetByKey("ns/" + c.Name); exists && number(stored.(*corev1.ConfigMap)) < version &&
		w.knows[c.Name] == c {
		return fmt.Errorf("told of %s, when the store has %s", show(c), show(stored.(*corev1.ConfigMap)))
	}
	return nil
}

// take takes a call: it checks it, and behaves as it is meant to behave.
func (w *witness) take(check func() error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls++
	err := check()
	if w.gone {
		err = fmt.Errorf("a call after its removal (%v)", err)
	}
	if w.wrong == nil && err != nil {
		w.wrong = fmt.Errorf("%s, call %d: %w", w.name, w.calls, err)
	}
	for w.stalled {
		w.wake.Wait()
	}
	if w.slow > 0 {
		w.mu.Unlock()
		time.Sleep(w.slow)
		w.mu.Lock()
	}
	if w.scary > 0 && w.calls%w.scary == 0 && w.calls/w.scary <= 10 {
		panic("scary")
	}
}

// stall makes it wait in its next call, or no more.
func (w *witness) stall(stalled bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stalled = stalled
	w.wake.Broadcast()
}

// leave says that it was removed: no call is to come.
func (w *witness) leave(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gone, w.wrong = true, errors.Join(w.wrong, err)
}

// check tells whether the witness was told right so far; at a quiet point, it
// must know what the store holds.
func (w *witness) check(informerSynced bool) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.wrong != nil || w.gone || w.stalled {
		return w.wrong
	}
	if synced := w.registration.HasSynced(); synced != informerSynced {
		return fmt.Errorf("%s: synced: %t, the informer: %t", w.name, synced, informerSynced)
	}
	stored := map[string]*corev1.ConfigMap{}
	for _, obj := range w.store.List() {
		stored[obj.(*corev1.ConfigMap).Name] = obj.(*corev1.ConfigMap)
	}
	if got, want := list(w.knows), list(stored); !slices.Equal(got, want) {
		return fmt.Errorf("%s: was told of %v, the store holds %v", w.name, got, want)
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

// said tells whether this very object came from the world.
func (w *world) said(c *corev1.ConfigMap) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sent[c]
}
