// Tests of Informer.Stop.

package informer_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/03-reflector/observer"
	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/scripts/harness/must"
)

// Stop ends a run. It does not wait for the call that is running. ShutdownChan does.
func TestStop(t *testing.T) {
	forOurs(t, func(t *testing.T, newInformer maker) {
		before := must.Goroutines()
		r := newRig(newInformer, options(), configMap("a", "1"))
		shared := r.SharedIndexInformer.(*informer.Informer)
		r.handle(t, cache.ResourceEventHandlerFuncs{AddFunc: func(any) { time.Sleep(time.Minute) }})
		r.run(t)
		w, start := r.server.NextWatch(), time.Now()
		shared.Stop()
		synctest.Wait()
		if took := time.Since(start); took != 0 {
			t.Errorf("Stop() took %v, want 0", took)
		}
		if !r.IsStopped() {
			t.Error("IsStopped() = false, want true")
		}
		if !w.IsStopped() {
			t.Error("IsStopped() = false for the watch, want true")
		}
		<-shared.ShutdownChan()
		must.NoNewGoroutines(t, before)
		if took := time.Since(start); took != time.Minute {
			t.Errorf("ShutdownChan was closed after %v, want %v", took, time.Minute)
		}
		shared.Stop() // a second time does nothing
	})
}

func TestAnInformerThatWasStoppedIsNeverRun(t *testing.T) {
	forOurs(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"))
		shared := r.SharedIndexInformer.(*informer.Informer)
		r.handle(t, cache.ResourceEventHandlerFuncs{})
		shared.Stop()
		<-shared.ShutdownChan()
		r.run(t)
		if lists := r.server.Lists(); lists != 0 {
			t.Errorf("Lists() = %d, want 0", lists)
		}
		if !r.IsStopped() {
			t.Error("IsStopped() = false, want true")
		}
	})
}

// An index function can run before the start: AddIndexers calls it for the objects that a program
// has put into the store. The informer holds its lock meanwhile.
func TestStopInAnIndexFunctionBeforeTheStart(t *testing.T) {
	forOurs(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options())
		shared := r.SharedIndexInformer.(*informer.Informer)
		must.NoError(t, r.GetStore().Add(configMap("a", "1")))
		must.NoError(t, r.AddIndexers(stoppingIndexers(shared.Stop)))
		<-shared.ShutdownChan()
		if !r.IsStopped() {
			t.Error("IsStopped() = false, want true")
		}
	})
}

// The end of the run waits for the goroutine of each callback. Some callbacks run while the
// informer holds a lock.
func TestStopIsSafeInEveryCallback(t *testing.T) {
	type options = cache.SharedIndexInformerOptions
	// Each function sets a callback that calls stop. later, if not nil, is called while the
	// informer runs.
	callbacks := map[string]func(t *testing.T, r *rig, stop func()) (later func()){
		"handler": func(t *testing.T, r *rig, stop func()) func() {
			r.handle(t, cache.ResourceEventHandlerFuncs{AddFunc: func(any) { stop() }})
			return nil
		},
		"watch error handler": func(t *testing.T, r *rig, stop func()) func() {
			r.server.Fail(errNotToday)
			must.NoError(t, r.SetWatchErrorHandlerWithContext(
				func(context.Context, *cache.Reflector, error) { stop() }))
			return nil
		},
		"transform": func(t *testing.T, r *rig, stop func()) func() {
			must.NoError(t, r.SetTransform(func(obj any) (any, error) {
				stop()
				return obj, nil
			}))
			return nil
		},
		"index function": func(t *testing.T, r *rig, stop func()) func() {
			must.NoError(t, r.AddIndexers(stoppingIndexers(stop)))
			return nil
		},
		"index function that is added while it runs": func(t *testing.T, r *rig, stop func()) func() {
			return func() { must.NoError(t, r.AddIndexers(stoppingIndexers(stop))) }
		},
	}
	for _, kind := range append(kindsBeforeCalls, "processor.Called") {
		callbacks["observer, "+kind] = func(t *testing.T, r *rig, stop func()) func() {
			observe := observer.Func(func(event any) {
				if kindOf(event) == kind {
					stop()
				}
			})
			must.NoError(t, r.SharedIndexInformer.(*informer.Informer).SetObserver(observe))
			r.handle(t, cache.ResourceEventHandlerFuncs{})
			return func() {
				if registration, err := r.AddEventHandler(cache.ResourceEventHandlerFuncs{}); err == nil {
					must.NoError(t, r.RemoveEventHandler(registration))
				}
			}
		}
	}
	for name, set := range callbacks {
		t.Run(name, func(t *testing.T) {
			forOurs(t, func(t *testing.T, newInformer maker) {
				r := newRig(newInformer, options{Indexers: cache.Indexers{}}, configMap("a", "1"))
				shared := r.SharedIndexInformer.(*informer.Informer)
				var called atomic.Bool
				later := set(t, r, func() {
					called.Store(true)
					shared.Stop()
				})
				run := make(chan struct{})
				go func() {
					r.RunWithContext(t.Context())
					close(run)
				}()
				synctest.Wait()
				if later != nil {
					later()
				}
				<-run
				<-shared.ShutdownChan()
				if !called.Load() {
					t.Error("the callback was not called")
				}
				if !r.IsStopped() {
					t.Error("IsStopped() = false, want true")
				}
			})
		})
	}
}

// stoppingIndexers has an index function that calls stop.
func stoppingIndexers(stop func()) cache.Indexers {
	return cache.Indexers{"i": func(any) ([]string, error) {
		stop()
		return nil, nil
	}}
}
