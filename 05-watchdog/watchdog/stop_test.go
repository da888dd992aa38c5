// The end of a WatchDog, and handlers that panic or end their goroutine.

package watchdog

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/record"
)

// wantRunError checks that Run has returned an error that contains want.
func wantRunError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("Run() = %v, want an error that contains %q", err, want)
	}
}

// When Run returns, all its goroutines have ended.
func TestRunEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before := must.Goroutines()
		r := run(t, fakeapi.New(configMap("a", "1")))
		<-r.Synced()
		start := time.Now()
		must.NoError(t, r.stop())
		must.NoNewGoroutines(t, before)
		if took := time.Since(start); took != 0 {
			t.Errorf("Run() returned %v after the end of its context, want 0", took)
		}
		err := r.inbox.Pop(func(cache.Deltas, bool) error { return nil })
		if !errors.Is(err, cache.ErrFIFOClosed) {
			t.Errorf("Pop() = %v, want %v", err, cache.ErrFIFOClosed)
		}
		if got, want := r.Store().ListKeys(), []string{"ns/a"}; !slices.Equal(got, want) {
			t.Errorf("ListKeys() = %q after the end, want %q", got, want)
		}
	})
}

// This holds for an object that waits in the queue, and for the second delta of the object whose
// first call is running.
func TestNoCallBeginsAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := make(chan struct{})
		r := run(t, fakeapi.New(configMap("a", "1")), func(r *rig, o *Options) {
			recorder := record.Handler(&r.calls)
			o.Handler = cache.ResourceEventHandlerFuncs{
				AddFunc: func(obj any) {
					recorder.OnAdd(obj, false)
					<-busy
				},
				UpdateFunc: recorder.OnUpdate,
			}
		})
		w := r.server.NextWatch()
		synctest.Wait() // busy with a
		w.Add(configMap("b", "2"))
		w.Modify(configMap("b", "3"))
		w.Add(configMap("c", "4"))
		busy <- struct{}{}
		synctest.Wait() // busy with b, which was popped with its update; c waits
		time.AfterFunc(time.Second, func() { close(busy) })
		must.NoError(t, r.stop()) // waits for the handler
		r.calls.Want(t, "OnAdd a 1", "OnAdd b 2")
	})
}

func TestAContextThatHasEndedAlready(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dog, err := New(Options{ListerWatcher: fakeapi.New(), ObjectType: configMap("", ""),
			Handler: cache.ResourceEventHandlerFuncs{}})
		must.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		must.NoError(t, dog.Run(ctx))
	})
}

func TestRunTwiceIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := run(t, fakeapi.New(configMap("a", "1")))
		<-r.Synced()
		const want = "*v1.ConfigMap was run before"
		wantRunError(t, r.Run(t.Context()), want) // while the first Run goes on
		must.NoError(t, r.stop())
		wantRunError(t, r.Run(t.Context()), want) // after its end
		r.calls.Want(t, "OnAdd a 1 first")        // once only
	})
}

// The store has changed before the call, and the next call is made.
func TestAHandlerThatPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := run(t, fakeapi.New(configMap("a", "1"), configMap("b", "1")), func(r *rig, o *Options) {
			recorder := record.Handler(&r.calls)
			o.Handler = cache.ResourceEventHandlerFuncs{
				AddFunc: func(obj any) {
					recorder.OnAdd(obj, false)
					panic("ouch")
				},
				DeleteFunc: func(obj any) {
					recorder.OnDelete(obj)
					panic("ouch again")
				},
			}
		})
		<-r.Synced() // a call that has panicked counts as handled
		r.calls.Want(t, "OnAdd a 1", "OnAdd b 1")
		if got, want := sortedKeys(r), []string{"ns/a", "ns/b"}; !slices.Equal(got, want) {
			t.Errorf("ListKeys() = %q, want %q", got, want)
		}
		r.server.NextWatch().Delete(configMap("a", "2"))
		r.calls.Want(t, "OnDelete a 2")
		if got, want := sortedKeys(r), []string{"ns/b"}; !slices.Equal(got, want) {
			t.Errorf("ListKeys() = %q after the delete, want %q", got, want)
		}
		wantErrors := []string{"OnAdd of ns/a: ouch\n", "OnAdd of ns/b: ouch\n", "OnDelete of ns/a: ouch again\n"}
		reported := r.errors.Take()
		if len(reported) != len(wantErrors) {
			t.Fatalf("OnError was called %d times, want %d: %q", len(reported), len(wantErrors), reported)
		}
		for i, want := range wantErrors {
			if !strings.Contains(reported[i], want) {
				t.Errorf("error %d is %q, want it to contain %q", i, reported[i], want)
			}
		}
		must.NoError(t, r.stop())
	})
}

func sortedKeys(r *rig) []string { return slices.Sorted(slices.Values(r.Store().ListKeys())) }

// t.FailNow in a handler does this. That goroutine also changes the store: Run must not go on
// without it.
func TestAHandlerThatEndsItsGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dog, err := New(Options{
			ListerWatcher: fakeapi.New(configMap("a", "1"), configMap("b", "2")),
			ObjectType:    configMap("", ""),
			Handler:       cache.ResourceEventHandlerFuncs{AddFunc: func(any) { runtime.Goexit() }},
		})
		must.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		start := time.Now()
		err = dog.Run(ctx)
		if took := time.Since(start); took != 0 {
			t.Errorf("Run() returned %v after the handler had ended its goroutine, want 0", took)
		}
		wantRunError(t, err, "the handler has ended its goroutine in OnAdd of ns/a (runtime.Goexit)")
	})
}
