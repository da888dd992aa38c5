// Handlers that come and go.

package informer

import (
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/03-reflector/observer"
	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/record"
)

// version is number n as a resourceVersion.
func version(n int) string { return strconv.Itoa(n) }

// "A client added after Run() starts gets a startup batch of notifications of
// additions of the objects existing in the cache", then all updates.
func TestALateHandlerGetsWhatIsThere(t *testing.T) {
	forBoth(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"), configMap("b", "1"))
		r.run(t)
		w := r.server.NextWatch()
		w.Modify(configMap("a", "2"))
		w.Delete(configMap("b", "3"))
		w.Add(configMap("c", "4"))
		synctest.Wait() // it is stored
		late := r.recorder(t)
		late.WantSorted(t, "OnAdd a 2 first", "OnAdd c 4 first")
		w.Modify(configMap("c", "5"))
		w.Delete(configMap("a", "6"))
		late.Want(t, "OnUpdate c 5, was 4", "OnDelete a 6")
	})
}

// A change between its look at the store and its place in the log would be lost. A
// handler that joined between a change and its notification would get it twice. And
// the caller does not wait for the handler.
func TestNothingChangesWhileAHandlerJoins(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		r := newRig(ours, options(), configMap("a", "1"))
		i := r.SharedIndexInformer.(*Informer)
		must.Do(t, i.SetObserver(observer.Func(func(e observer.Event) {
			if (e.Kind == observer.Joined || e.Kind == observer.Stored) && i.blockDeltas.TryLock() {
				i.blockDeltas.Unlock()
				t.Errorf("blockDeltas is free: %s %s %s", e.Kind, e.Type, e.Key)
			}
			expect.That(t, e.Kind != observer.Stored || (e.Old == nil) == (e.Type == "ADDED"),
				"%s %s: the old object is %v", e.Type, e.Key, e.Old)
		})))
		r.run(t)
		joined, release := false, make(chan struct{})
		go func() {
			r.handle(t, cache.ResourceEventHandlerFuncs{AddFunc: func(any) { <-release }})
			joined = true
		}()
		synctest.Wait()
		expect.That(t, joined, "AddEventHandler waits for the handler")
		close(release)
		r.recorder(t).Want(t, "OnAdd a 1 first")
		w := r.server.NextWatch()
		w.Add(configMap("b", "2"))
		w.Delete(configMap("a", "3"))
		r.server.Set() // b is gone, too
		fakeapi.Expire(w)
		r.server.NextWatch()
	})
}

func TestTheSameHandlerAddedTwiceIsCalledTwice(t *testing.T) {
	forBoth(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"))
		var calls record.Lines
		one := r.handle(t, record.Handler(&calls))
		r.handle(t, record.Handler(&calls))
		r.run(t)
		calls.Want(t, "OnAdd a 1 first", "OnAdd a 1 first")
		must.Do(t, r.RemoveEventHandler(one))
		r.server.NextWatch().Add(configMap("b", "2"))
		calls.Want(t, "OnAdd b 2")
	})
}

func TestAHandlerCanAddAnother(t *testing.T) {
	forBoth(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"))
		var calls record.Lines
		r.handle(t, cache.ResourceEventHandlerFuncs{AddFunc: func(any) {
			_, err := r.AddEventHandler(record.Handler(&calls))
			expect.That(t, err == nil, "%v", err)
		}})
		r.run(t)
		calls.Want(t, "OnAdd a 1 first")
	})
}

func TestRemovedBeforeTheStart(t *testing.T) {
	forBoth(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"))
		gone, stays := r.recorder(t), r.recorder(t)
		must.Do(t, r.RemoveEventHandler(gone.ResourceEventHandlerRegistration))
		must.Do(t, cache.ShutDownEventHandler(r, gone.ResourceEventHandlerRegistration)) // does not wait for a start
		r.run(t)
		gone.Want(t)
		stays.Want(t, "OnAdd a 1 first")
		expect.That(t, !gone.HasSynced(), "HasSynced() = true of one that was never called")
	})
}

// "This function is guaranteed to be idempotent, and thread-safe."
func TestRemoveTwiceAndFromManyPlaces(t *testing.T) {
	forBoth(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"))
		r.run(t)
		w := r.server.NextWatch()
		for round := range 20 {
			handler := r.recorder(t)
			var removing sync.WaitGroup
			for range 8 {
				removing.Go(func() {
					err := r.RemoveEventHandler(handler.ResourceEventHandlerRegistration)
					expect.That(t, err == nil, "%v", err)
				})
			}
			w.Modify(configMap("a", version(round+2)))
			removing.Wait()
			must.Do(t, r.RemoveEventHandler(handler.ResourceEventHandlerRegistration))
			must.Do(t, cache.ShutDownEventHandler(r, handler.ResourceEventHandlerRegistration))
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
	forBoth(t, func(t *testing.T, newInformer maker) {
		r, other := newRig(newInformer, options(), configMap("a", "1")),
			newRig(newInformer, options(), configMap("a", "1"))
		handler := other.recorder(t)
		r.run(t)
		other.run(t)
		for _, handle := range []cache.ResourceEventHandlerRegistration{foreignRegistration{handler}, nil} {
			err := r.RemoveEventHandler(handle)
			expect.That(t, err != nil, "RemoveEventHandler(%T) = nil, want an error", handle)
		}
		// It is a handler of another informer: nothing happens.
		must.Do(t, r.RemoveEventHandler(handler.ResourceEventHandlerRegistration))
		other.server.NextWatch().Add(configMap("b", "2"))
		handler.Want(t, "OnAdd a 1 first", "OnAdd b 2")
	})
}

func TestAHandlerCanRemoveItself(t *testing.T) {
	forBoth(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options())
		var calls record.Lines
		var self cache.ResourceEventHandlerRegistration
		self = r.handle(t, cache.ResourceEventHandlerFuncs{AddFunc: func(any) {
			calls.Add("called")
			err := r.RemoveEventHandler(self)
			expect.That(t, err == nil, "%v", err)
		}})
		r.run(t)
		w := r.server.NextWatch()
		w.Add(configMap("a", "2"))
		calls.Want(t, "called")
		w.Add(configMap("b", "3"))
		calls.Want(t)
		must.Do(t, cache.ShutDownEventHandler(r, self))
	})
}

// ShutDownEventHandler "blocks until it has fully stopped processing events";
// RemoveEventHandler does not.
func TestShutDownWaitsForTheCallThatIsUnderWay(t *testing.T) {
	forBoth(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"))
		var calls record.Lines
		registration := r.handle(t, cache.ResourceEventHandlerFuncs{AddFunc: func(any) {
			time.Sleep(time.Minute)
			calls.Add("returned")
		}})
		r.run(t)
		start := time.Now()
		must.Do(t, r.RemoveEventHandler(registration))
		took := time.Since(start)
		expect.That(t, took == 0, "RemoveEventHandler took %v", took)
		must.Do(t, cache.ShutDownEventHandler(r, registration))
		took = time.Since(start)
		expect.That(t, took == time.Minute, "ShutDownEventHandler returned after %v, want a minute", took)
		calls.Want(t, "returned")
	})
}

// "Adding event handlers to already stopped informers is not possible." Callers
// look for these words in the error.
func TestNoHandlerAfterTheEnd(t *testing.T) {
	forBoth(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options())
		r.run(t)
		r.stop()
		var calls record.Lines
		registration, err := r.AddEventHandler(record.Handler(&calls))
		if registration != nil || err == nil ||
			!strings.Contains(err.Error(), "was not added to shared informer because it has stopped already") {
			t.Errorf("AddEventHandler() = %v, %v; want an error: it has stopped", registration, err)
		}
		synctest.Wait()
		calls.Want(t)
	})
}
