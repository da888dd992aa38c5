// Tests of handlers that join and leave.

package informer_test

import (
	"runtime"
	"slices"
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
		if lists, watches := r.server.Lists(), r.watches.Load(); lists != 1 || watches != 1 {
			t.Errorf("%d lists and %d watches, want one each: the handler gets what the store has", lists, watches)
		}
		w.Modify(configMap("c", "5"))
		w.Delete(configMap("a", "6"))
		late.Want(t, "OnUpdate c 5, was 4", "OnDelete a 6")
	})
}

// The informer is still storing its first list when an object of this list is deleted and created
// again. The second add of the object is not initial, and comes after all adds that are.
func TestTheInitialListComesFirst(t *testing.T) {
	for name, newInformer := range implementations {
		if name == "deltafifo" {
			continue // it groups the changes of a
		}
		inFakeTime(t, func(t *testing.T) {
			release := make(chan struct{})
			slow := func(any) ([]string, error) {
				<-release
				return nil, nil
			}
			r := newRig(newInformer, cache.SharedIndexInformerOptions{Indexers: cache.Indexers{"slow": slow}},
				configMap("a", "1"), configMap("b", "1"), configMap("c", "1"))
			handler := r.recorder(t)
			go func() {
				w := r.server.NextWatch()
				w.Delete(configMap("a", "2"))
				w.Add(configMap("a", "3"))
				w.Add(configMap("d", "4"))
			}()
			r.run(t)
			handler.Want(t) // the store has no object yet
			close(release)
			calls := handler.Take()
			slices.Sort(calls[:min(3, len(calls))]) // the list has no order
			want := []string{
				"OnAdd a 1 first", "OnAdd b 1 first", "OnAdd c 1 first", "OnDelete a 2", "OnAdd a 3", "OnAdd d 4",
			}
			if !slices.Equal(calls, want) {
				t.Errorf("%s: got\n  %q\nwant\n  %q", name, calls, want)
			}
		})
	}
}

// Handlers join while the informer stores one add after the other.
func TestTheInitialListOfALateHandlerComesFirst(t *testing.T) {
	forEach(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"))
		r.run(t)
		w := r.server.NextWatch()
		var sending sync.WaitGroup
		sending.Go(func() {
			for i := range 1000 {
				w.Add(configMap("b-"+version(i), version(i+2)))
			}
		})
		var handlers []*recorder
		for range 20 {
			handlers = append(handlers, r.recorder(t))
			runtime.Gosched()
		}
		sending.Wait()
		for i, handler := range handlers {
			calls := handler.Take()
			if len(calls) != 1001 {
				t.Errorf("handler %d got %d calls, want 1001: one for each object", i, len(calls))
			}
			other := slices.IndexFunc(calls, func(call string) bool { return !strings.HasSuffix(call, " first") })
			if other >= 0 && slices.ContainsFunc(calls[other:], func(call string) bool {
				return strings.HasSuffix(call, " first")
			}) {
				t.Errorf("handler %d got an initial add after another call: %q", i, calls)
			}
		}
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
			for _, call := range handler.Take() {
				if strings.HasPrefix(call, "OnDelete") {
					t.Errorf("%s for a handler that was removed, want none: the object is still there", call)
				}
			}
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
