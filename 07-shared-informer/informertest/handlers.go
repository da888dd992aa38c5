// Handlers that join and leave.

package informertest

import (
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"k8s.io/client-go/tools/cache"
)

// "A client added after Run() starts gets a startup batch of notifications of additions of the
// objects existing in the cache", then all updates.
func lateHandler(t *testing.T, newInformer New) {
	r := newRig(newInformer, options{}, configMap("a", "1"), configMap("b", "1"))
	r.run(t)
	w := r.server.nextWatch()
	w.Modify(configMap("a", "2"))
	w.Delete(configMap("b", "3"))
	w.Add(configMap("c", "4"))
	synctest.Wait() // the store has all three
	late := r.recorder(t)
	late.wantSorted(t, "OnAdd a 2 first", "OnAdd c 4 first")
	r.wantRequests(t, 1, 1) // the handler gets what the store has
	w.Modify(configMap("c", "5"))
	w.Delete(configMap("a", "6"))
	late.want(t, "OnUpdate c 5, was 4", "OnDelete a 6")
}

// Handlers join while the informer stores one add after the other.
func initialAddsComeFirst(t *testing.T, newInformer New) {
	r := newRig(newInformer, options{}, configMap("a", "1"))
	r.run(t)
	w := r.server.nextWatch()
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
	isFirst := func(call string) bool { return strings.HasSuffix(call, " first") }
	for i, handler := range handlers {
		calls := handler.take()
		if len(calls) != 1001 {
			t.Errorf("handler %d got %d calls, want 1001: one for each object", i, len(calls))
		}
		other := slices.IndexFunc(calls, func(call string) bool { return !isFirst(call) })
		if other >= 0 && slices.ContainsFunc(calls[other:], isFirst) {
			t.Errorf("handler %d got an initial add after another call: %q", i, calls)
		}
	}
}

func addedTwice(t *testing.T, newInformer New) {
	r := newRig(newInformer, options{}, configMap("a", "1"))
	var calls lines
	handler := calls.handler()
	registration := r.handle(t, handler)
	r.handle(t, handler)
	r.run(t)
	calls.want(t, "OnAdd a 1 first", "OnAdd a 1 first")
	noError(t, r.RemoveEventHandler(registration))
	r.server.nextWatch().Add(configMap("b", "2"))
	calls.want(t, "OnAdd b 2")
}

func handlerAddsAnother(t *testing.T, newInformer New) {
	r := newRig(newInformer, options{}, configMap("a", "1"))
	var calls lines
	r.handle(t, cache.ResourceEventHandlerFuncs{AddFunc: func(any) {
		if _, err := r.AddEventHandler(calls.handler()); err != nil {
			t.Errorf("AddEventHandler() inside a handler = %v, want nil", err)
		}
	}})
	r.run(t)
	calls.want(t, "OnAdd a 1 first")
}

func removedBeforeTheStart(t *testing.T, newInformer New) {
	r := newRig(newInformer, options{}, configMap("a", "1"))
	gone, stays := r.recorder(t), r.recorder(t)
	noError(t, r.RemoveEventHandler(gone.ResourceEventHandlerRegistration))
	r.run(t)
	gone.want(t)
	stays.want(t, "OnAdd a 1 first")
	wantSynced(t, "a handler that was never called", false, gone)
}

// "This function is guaranteed to be idempotent, and thread-safe."
func removedTwice(t *testing.T, newInformer New) {
	r := newRig(newInformer, options{}, configMap("a", "1"))
	r.run(t)
	w := r.server.nextWatch()
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
		noError(t, r.RemoveEventHandler(handler.ResourceEventHandlerRegistration))
		for _, call := range handler.take() {
			if strings.HasPrefix(call, "OnDelete") {
				t.Errorf("%s for a handler that was removed, want none: the object is still there", call)
			}
		}
		w.Modify(configMap("a", version(round+3)))
		handler.want(t)
	}
}

type foreignRegistration struct {
	cache.ResourceEventHandlerRegistration
}

func notItsOwn(t *testing.T, newInformer New) {
	r, other := newRig(newInformer, options{}, configMap("a", "1")), newRig(newInformer, options{}, configMap("a", "1"))
	handler := other.recorder(t)
	r.run(t)
	other.run(t)
	for _, handle := range []cache.ResourceEventHandlerRegistration{foreignRegistration{handler}, nil} {
		if err := r.RemoveEventHandler(handle); err == nil {
			t.Errorf("RemoveEventHandler(%T) = nil, want an error", handle)
		}
	}
	// For a handler of another informer, nothing happens.
	noError(t, r.RemoveEventHandler(handler.ResourceEventHandlerRegistration))
	other.server.nextWatch().Add(configMap("b", "2"))
	handler.want(t, "OnAdd a 1 first", "OnAdd b 2")
}

func handlerRemovesItself(t *testing.T, newInformer New) {
	r := newRig(newInformer, options{})
	var calls lines
	var self cache.ResourceEventHandlerRegistration
	self = r.handle(t, cache.ResourceEventHandlerFuncs{AddFunc: func(any) {
		calls.add("called")
		if err := r.RemoveEventHandler(self); err != nil {
			t.Errorf("RemoveEventHandler() inside the handler = %v, want nil", err)
		}
	}})
	r.run(t)
	w := r.server.nextWatch()
	w.Add(configMap("a", "2"))
	calls.want(t, "called")
	w.Add(configMap("b", "3"))
	calls.want(t)
}

// "Adding event handlers to already stopped informers is not possible." Callers look for these
// words in the error.
func noHandlerAfterTheEnd(t *testing.T, newInformer New) {
	r := newRig(newInformer, options{})
	r.run(t)
	r.stop()
	var calls lines
	registration, err := r.AddEventHandler(calls.handler())
	const want = "was not added to shared informer because it has stopped already"
	if registration != nil || err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("AddEventHandler() = %v, %v; want nil and an error that contains %q", registration, err, want)
	}
	calls.want(t)
}
