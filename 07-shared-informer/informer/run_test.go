// The beginning and the end.

package informer

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/record"
)

// That no goroutine stays is checked by synctest, which waits for all of them.
func TestRunEndsWithItsContext(t *testing.T) {
	forBoth(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"))
		handler := r.recorder(t)
		expect.That(t, !r.IsStopped(), "IsStopped() = true before the start")
		r.run(t)
		expect.That(t, !r.IsStopped(), "IsStopped() = true while it runs")
		w := r.server.NextWatch()
		start := time.Now()
		r.stop()
		if took := time.Since(start); took != 0 || !r.IsStopped() || !w.IsStopped() {
			t.Errorf("it took %v; stopped: %t, its watch: %t", took, r.IsStopped(), w.IsStopped())
		}
		handler.Want(t, "OnAdd a 1 first")
		got := keys(r.GetStore())
		expect.That(t, len(got) == 1, "the store holds %v, want that it can still be read", got)
	})
}

// "run more than once is not allowed": neither while it runs, nor afterwards.
func TestASecondRunIsRefused(t *testing.T) {
	forBoth(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"))
		handler := r.recorder(t)
		r.run(t)
		again := func() string {
			return logged(t, func(logger klog.Logger) { r.RunWithContext(klog.NewContext(t.Context(), logger)) })
		}
		text := again()
		expect.That(t, strings.Contains(text, "Warning:"), "while it runs: logged %q, want a warning", text)
		handler.Want(t, "OnAdd a 1 first")
		r.server.NextWatch().Add(configMap("b", "2")) // the first run is as it was
		handler.Want(t, "OnAdd b 2")
		r.stop()
		text = again()
		expect.That(t, strings.Contains(text, "Warning:"), "afterwards: logged %q, want a warning", text)
		lists := r.server.Lists()
		expect.That(t, lists == 1 && r.IsStopped(), "%d lists, stopped: %t; want 1, true", lists, r.IsStopped())
	})
}

func TestManyRunsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // client-go looks first, and locks later
		r := newRig(ours, options(), configMap("a", "1"))
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{}, 10)
		for range 10 {
			go func() { r.RunWithContext(ctx); ended <- struct{}{} }()
		}
		synctest.Wait()
		expect.That(t, len(ended) == 9 && r.server.Lists() == 1,
			"%d of ten have returned, %d lists; want 9, 1", len(ended), r.server.Lists())
		cancel()
		synctest.Wait()
		expect.That(t, len(ended) == 10, "%d of ten have returned", len(ended))
	})
}

// Client-go's asks the server once, all the same: a real client refuses that.
func TestAContextThatHasEndedAlready(t *testing.T) {
	for name, want := range map[string]int{"client-go": 1, "ours": 0} {
		inFakeTime(t, func(t *testing.T) {
			r := newRig(implementations[name], options(), configMap("a", "1"))
			r.recorder(t)
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			r.RunWithContext(ctx)
			synctest.Wait() // client-go's does not wait for its list
			if lists := r.server.Lists(); !r.IsStopped() || lists != want {
				t.Errorf("%s: IsStopped() = %t after %d lists, want true after %d", name, r.IsStopped(), lists, want)
			}
		})
	}
}

func TestItEndsThoughTheServerDoesNotAnswer(t *testing.T) {
	forBoth(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options())
		defer hold(r)()
		r.run(t)
		r.stop()
		expect.That(t, r.IsStopped(), "IsStopped() = false")
	})
}

// RunWithContext returns "after it stops": no call is under way any more.
func TestRunWaitsForTheCallThatIsUnderWay(t *testing.T) {
	forBoth(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"))
		var calls record.Lines
		r.handle(t, cache.ResourceEventHandlerFuncs{AddFunc: func(any) {
			time.Sleep(time.Minute)
			calls.Add("returned")
		}})
		r.run(t)
		start := time.Now()
		r.stop()
		took := time.Since(start)
		expect.That(t, took == time.Minute, "it took %v, want a minute", took)
		calls.Want(t, "returned")
	})
}

// An event waits in the queue of client-go's while the loop is busy with the one before. The
// reflector is further than the store then. The end of the context drops what waits.
func TestWhatWaitsInTheQueueAtTheEndIsDropped(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		release := make(chan struct{})
		r := newRig(cache.NewSharedIndexInformerWithOptions, cache.SharedIndexInformerOptions{Indexers: cache.Indexers{
			"slow": func(obj any) ([]string, error) {
				if obj.(metav1.Object).GetResourceVersion() == "2" {
					<-release
				}
				return nil, nil
			},
		}}, configMap("a", "1"))
		handler := r.recorder(t)
		r.run(t)
		w := r.server.NextWatch()
		w.Modify(configMap("a", "2"))
		synctest.Wait() // the loop is busy with it
		w.Add(configMap("b", "3"))
		time.AfterFunc(time.Hour, func() {
			expect.That(t, !r.IsStopped() && w.IsStopped(), "stopped: %t, its watch: %t", r.IsStopped(), w.IsStopped())
			close(release)
		})
		r.stop()
		reflector, store := r.LastSyncResourceVersion(), r.GetStore().LastStoreSyncResourceVersion()
		expect.That(t, reflector == "3" && store == "2" && slices.Equal(keys(r.GetStore()), []string{"ns/a"}),
			"the reflector came to %s, the store to %s with %v", reflector, store, keys(r.GetStore()))
		calls := handler.Take() // perhaps of a 2: its notification is under way when the handlers are stopped
		expect.That(t, !slices.Contains(calls, "OnAdd b 3"), "calls: %q", calls)
	})
}

// Handlers may be added, removed and asked while it ends.
func TestTheEndInTheMidstOfThings(t *testing.T) {
	forBoth(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"))
		r.run(t)
		var working sync.WaitGroup
		for range 4 {
			working.Go(func() {
				for range 50 {
					if registration, err := r.AddEventHandler(cache.ResourceEventHandlerFuncs{}); err == nil {
						registration.HasSynced()
						if err := cache.ShutDownEventHandler(r, registration); err != nil {
							t.Error(err)
						}
					}
					r.LastSyncResourceVersion()
				}
			})
		}
		r.stop()
		working.Wait()
	})
}
