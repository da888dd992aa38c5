// Tests of handlers that join and leave.

package informer

import (
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/record"
)

// version returns the number n as a resource version.
func version(n int) string { return strconv.Itoa(n) }

// "A client added after Run() starts gets a startup batch of notifications of additions of the
// objects existing in the cache", then all updates.
func TestALateHandlerGetsWhatIsThere(t *testing.T) {
	forEach(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"), configMap("b", "1"))
		r.run(t)
		w := r.server.NextWatch()
		w.Modify(configMap("a", "2"))
		w.Delete(configMap("b", "3"))
		w.Add(configMap("c", "4"))
		synctest.Wait() // the store has all three
		late := r.recorder(t)
		late.WantSorted(t, "OnAdd a 2 first", "OnAdd c 4 first")
		w.Modify(configMap("c", "5"))
		w.Delete(configMap("a", "6"))
		late.Want(t, "OnUpdate c 5, was 4", "OnDelete a 6")
	})
}

func TestTheSameHandlerAddedTwiceIsCalledTwice(t *testing.T) {
	forEach(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"))
		var calls record.Lines
		registration := r.handle(t, record.Handler(&calls))
		r.handle(t, record.Handler(&calls))
		r.run(t)
		calls.Want(t, "OnAdd a 1 first", "OnAdd a 1 first")
		must.NoError(t, r.RemoveEventHandler(registration))
		r.server.NextWatch().Add(configMap("b", "2"))
		calls.Want(t, "OnAdd b 2")
	})
}

func TestAHandlerCanAddAnother(t *testing.T) {
	forEach(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"))
		var calls record.Lines
		r.handle(t, cache.ResourceEventHandlerFuncs{AddFunc: func(any) {
			if _, err := r.AddEventHandler(record.Handler(&calls)); err != nil {
				t.Errorf("AddEventHandler() inside a handler = %v, want nil", err)
			}
		}})
		r.run(t)
		calls.Want(t, "OnAdd a 1 first")
	})
}

func TestRemovedBeforeTheStart(t *testing.T) {
	forEach(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"))
		gone, stays := r.recorder(t), r.recorder(t)
		must.NoError(t, r.RemoveEventHandler(gone.ResourceEventHandlerRegistration))
		// It does not wait for a start.
		must.NoError(t, cache.ShutDownEventHandler(r, gone.ResourceEventHandlerRegistration))
		r.run(t)
		gone.Want(t)
		stays.Want(t, "OnAdd a 1 first")
		if gone.HasSynced() {
			t.Error("HasSynced() = true for a handler that was never called, want false")
		}
	})
}

// "This function is guaranteed to be idempotent, and thread-safe."
func TestRemoveTwiceAndFromManyPlaces(t *testing.T) {
	forEach(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"))
		r.run(t)
		w := r.server.NextWatch()
		for round := range 20 {
			handler := r.recorder(t)
			var removing sync.WaitGroup
			for range 8 {
				removing.Go(func() {
					if err := r.RemoveEventHandler(handler.ResourceEventHandlerRegistration); err != nil {
						t.Errorf("RemoveEventHandler() = %v, want nil", err)
					}
				})
			}
			w.Modify(configMap("a", version(round+2)))
			removing.Wait()
			must.NoError(t, r.RemoveEventHandler(handler.ResourceEventHandlerRegistration))
			must.NoError(t, cache.ShutDownEventHandler(r, handler.ResourceEventHandlerRegistration))
			handler.Take()
			w.Modify(configMap("a", version(round+3)))
			handler.Want(t)
		}
	})
}

type foreignRegistration struct {
	cache.ResourceEventHandlerRegistration
}

func TestRemoveWhatIsNotItsOwn(t *testing.T) {
	forEach(t, func(t *testing.T, newInformer maker) {
		r, other := newRig(newInformer, options(), configMap("a", "1")),
			newRig(newInformer, options(), configMap("a", "1"))
		handler := other.recorder(t)
		r.run(t)
		other.run(t)
		for _, handle := range []cache.ResourceEventHandlerRegistration{foreignRegistration{handler}, nil} {
			if err := r.RemoveEventHandler(handle); err == nil {
				t.Errorf("RemoveEventHandler(%T) = nil, want an error", handle)
			}
		}
		// For a handler of another informer, nothing happens.
		must.NoError(t, r.RemoveEventHandler(handler.ResourceEventHandlerRegistration))
		other.server.NextWatch().Add(configMap("b", "2"))
		handler.Want(t, "OnAdd a 1 first", "OnAdd b 2")
	})
}

func TestAHandlerCanRemoveItself(t *testing.T) {
	forEach(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options())
		var calls record.Lines
		var self cache.ResourceEventHandlerRegistration
		self = r.handle(t, cache.ResourceEventHandlerFuncs{AddFunc: func(any) {
			calls.Add("called")
			if err := r.RemoveEventHandler(self); err != nil {
				t.Errorf("RemoveEventHandler() inside the handler = %v, want nil", err)
			}
		}})
		r.run(t)
		w := r.server.NextWatch()
		w.Add(configMap("a", "2"))
		calls.Want(t, "called")
		w.Add(configMap("b", "3"))
		calls.Want(t)
		must.NoError(t, cache.ShutDownEventHandler(r, self))
	})
}

// ShutDownEventHandler "blocks until it has fully stopped processing events"; RemoveEventHandler
// does not.
func TestShutDownWaitsForTheCallThatIsUnderWay(t *testing.T) {
	forEach(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"))
		var calls record.Lines
		registration := r.handle(t, cache.ResourceEventHandlerFuncs{AddFunc: func(any) {
			time.Sleep(time.Minute)
			calls.Add("returned")
		}})
		r.run(t)
		start := time.Now()
		must.NoError(t, r.RemoveEventHandler(registration))
		if took := time.Since(start); took != 0 {
			t.Errorf("RemoveEventHandler took %v, want 0", took)
		}
		must.NoError(t, cache.ShutDownEventHandler(r, registration))
		if took := time.Since(start); took != time.Minute {
			t.Errorf("ShutDownEventHandler returned after %v, want %v", took, time.Minute)
		}
		calls.Want(t, "returned")
	})
}

func TestShutDownAfterTheEnd(t *testing.T) {
	forEach(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"))
		handler := r.recorder(t)
		r.run(t)
		r.stop()
		must.NoError(t, cache.ShutDownEventHandler(r, handler.ResourceEventHandlerRegistration))
		must.NoError(t, r.RemoveEventHandler(handler.ResourceEventHandlerRegistration))
	})
}

// "Adding event handlers to already stopped informers is not possible." Callers look for these
// words in the error.
func TestNoHandlerAfterTheEnd(t *testing.T) {
	forEach(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options())
		r.run(t)
		r.stop()
		var calls record.Lines
		registration, err := r.AddEventHandler(record.Handler(&calls))
		const want = "was not added to shared informer because it has stopped already"
		if registration != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("AddEventHandler() = %v, %v; want nil and an error that contains %q", registration, err, want)
		}
		synctest.Wait()
		calls.Want(t)
	})
}
