// How a WatchDog ends, and what does not end it.

package watchdog

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/record"
)

// wantRun wants an error of Run with this text in it.
func wantRun(t *testing.T, err error, want string) {
	t.Helper()
	expect.That(t, err != nil && strings.Contains(err.Error(), want), "Run() = %v, want %q", err, want)
}

// That no goroutine stays is checked by synctest, which waits for all of them.
func TestRunEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := run(t, fakeapi.New(configMap("a", "1")))
		<-r.Synced()
		start := time.Now()
		must.Do(t, r.stop())
		took := time.Since(start)
		expect.That(t, took == 0, "it took %v", took)
		err := r.inbox.Pop(func(cache.Deltas) error { return nil })
		expect.That(t, err == cache.ErrFIFOClosed, "Pop() = %v, want that the queue is closed", err)
		keys := r.Store().ListKeys()
		expect.That(t, len(keys) == 1, "the store holds %v, want that it can still be read", keys)
	})
}

// Neither for what waits in the queue, nor for what was taken out of it with
// the call that is under way.
func TestNoCallBeginsAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := make(chan struct{})
		r := run(t, fakeapi.New(configMap("a", "1")), func(r *rig, o *Options) {
			recorder := record.Handler(&r.calls)
			o.Handler = cache.ResourceEventHandlerFuncs{
				AddFunc:    func(obj any) { recorder.OnAdd(obj, false); <-busy },
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
		go func() { time.Sleep(time.Second); close(busy) }()
		must.Do(t, r.stop()) // it waits for the handler
		r.calls.Want(t, "OnAdd a 1", "OnAdd b 2")
	})
}

func TestAContextThatHasEndedAlready(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dog, err := New(Options{ListerWatcher: fakeapi.New(), ObjectType: configMap("", ""),
			Handler: cache.ResourceEventHandlerFuncs{}})
		must.Do(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		must.Do(t, dog.Run(ctx))
	})
}

func TestRunTwiceIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := run(t, fakeapi.New(configMap("a", "1")))
		<-r.Synced()
		for _, when := range []string{"while it runs", "after its end"} {
			t.Log(when)
			wantRun(t, r.Run(t.Context()), "*v1.ConfigMap was run before")
			r.stop()
		}
		r.calls.Want(t, "OnAdd a 1 first") // and once only
	})
}

// Whatever the handler does, the store has changed before; and the next call
// is made.
func TestAHandlerThatPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := run(t, fakeapi.New(configMap("a", "1"), configMap("b", "1")), func(r *rig, o *Options) {
			recorder := record.Handler(&r.calls)
			o.Handler = cache.ResourceEventHandlerFuncs{
				AddFunc:    func(obj any) { recorder.OnAdd(obj, false); panic("ouch") },
				DeleteFunc: func(obj any) { recorder.OnDelete(obj); panic("ouch again") },
			}
		})
		<-r.Synced() // a call that panicked is handled
		r.calls.Want(t, "OnAdd a 1", "OnAdd b 1")
		keys := r.Store().ListKeys()
		expect.That(t, len(keys) == 2, "the store holds %v, want a and b", keys)
		r.server.NextWatch().Delete(configMap("a", "2"))
		r.calls.Want(t, "OnDelete a 2")
		keys = r.Store().ListKeys()
		expect.That(t, len(keys) == 1 && keys[0] == "ns/b", "the store holds %v, want ns/b", keys)
		reported := r.errors.Take()
		for i, want := range []string{"OnAdd of ns/a: ouch\n", "OnAdd of ns/b: ouch\n",
			"OnDelete of ns/a: ouch again\n"} {
			expect.That(t, len(reported) > i && strings.Contains(reported[i], want),
				"reported %q, want %q in number %d", reported, want, i)
		}
		must.Do(t, r.stop())
	})
}

// As t.FailNow does in a handler of a test. It was the goroutine that changes the store:
// nobody is to believe that the store goes on.
func TestAHandlerThatEndsItsGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dog, err := New(Options{
			ListerWatcher: fakeapi.New(configMap("a", "1"), configMap("b", "2")),
			ObjectType:    configMap("", ""),
			Handler:       cache.ResourceEventHandlerFuncs{AddFunc: func(any) { runtime.Goexit() }},
		})
		must.Do(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		start := time.Now()
		err = dog.Run(ctx)
		if took := time.Since(start); took != 0 {
			t.Errorf("Run() took %v, want that it returns when the handler has ended its goroutine", took)
		}
		const want = "the handler has ended its goroutine in OnAdd of ns/a (runtime.Goexit)"
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Run() = %v, want %q", err, want)
		}
	})
}
