// Tests of the start and the end of an informer.

package informer_test

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

	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/scripts/harness/must"
)

// When RunWithContext returns, all its goroutines have ended.
func TestRunEndsWithItsContext(t *testing.T) {
	forEach(t, func(t *testing.T, newInformer maker) {
		before := must.Goroutines()
		r := newRig(newInformer, options(), configMap("a", "1"))
		handler := r.recorder(t)
		if r.IsStopped() {
			t.Error("IsStopped() = true before the start, want false")
		}
		r.run(t)
		if r.IsStopped() {
			t.Error("IsStopped() = true while it runs, want false")
		}
		w := r.server.NextWatch()
		start := time.Now()
		r.stop()
		must.NoNewGoroutines(t, before)
		if took := time.Since(start); took != 0 {
			t.Errorf("RunWithContext returned %v after the end of its context, want 0", took)
		}
		if !r.IsStopped() {
			t.Error("IsStopped() = false after the end, want true")
		}
		if !w.IsStopped() {
			t.Error("IsStopped() = false for the watch after the end, want true")
		}
		handler.Want(t, "OnAdd a 1 first")
		if got, want := keys(r.GetStore()), []string{"ns/a"}; !slices.Equal(got, want) {
			t.Errorf("ListKeys() = %q after the end, want %q", got, want)
		}
	})
}

// Neither while it runs, nor afterwards.
func TestASecondRunIsLogged(t *testing.T) {
	forEach(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options())
		r.run(t)
		wantWarning := func(when string) {
			t.Helper()
			text := logged(t, func(logger klog.Logger) { r.RunWithContext(klog.NewContext(t.Context(), logger)) })
			if !strings.Contains(text, "Warning:") {
				t.Errorf("%s: RunWithContext logged %q, want a warning", when, text)
			}
		}
		wantWarning("while it runs")
		r.stop()
		wantWarning("after its end")
	})
}

func TestManyRunsAtOnce(t *testing.T) {
	forOurs(t, func(t *testing.T, newInformer maker) { // only ours: client-go has a race here
		r := newRig(newInformer, options(), configMap("a", "1"))
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{}, 10)
		for range 10 {
			go func() {
				r.RunWithContext(ctx)
				ended <- struct{}{}
			}()
		}
		synctest.Wait()
		if len(ended) != 9 {
			t.Errorf("%d of 10 runs have returned before the end of the context, want 9", len(ended))
		}
		if lists := r.server.Lists(); lists != 1 {
			t.Errorf("Lists() = %d, want 1", lists)
		}
		cancel()
		synctest.Wait()
		if len(ended) != 10 {
			t.Errorf("%d of 10 runs have returned after the end of the context, want 10", len(ended))
		}
	})
}

// client-go's informer still lists once. A real client refuses a request with such a context.
func TestAContextThatHasEndedAlready(t *testing.T) {
	for name, want := range each(map[string]int{"client-go": 1, "ours": 0}) {
		inFakeTime(t, func(t *testing.T) {
			r := newRig(implementations[name], options(), configMap("a", "1"))
			r.recorder(t)
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			r.RunWithContext(ctx)
			synctest.Wait() // RunWithContext of client-go does not wait for the list
			if !r.IsStopped() {
				t.Errorf("%s: IsStopped() = false, want true", name)
			}
			if lists := r.server.Lists(); lists != want {
				t.Errorf("%s: Lists() = %d, want %d", name, lists, want)
			}
		})
	}
}

// In client-go's informer, an event waits in the queue while the loop is busy with the event before
// it. Then the reflector is ahead of the store. At the end of the context, the event in the queue
// is dropped.
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
		synctest.Wait() // the loop is busy with version 2
		w.Add(configMap("b", "3"))
		time.AfterFunc(time.Hour, func() {
			if r.IsStopped() {
				t.Error("IsStopped() = true while the loop is busy, want false")
			}
			if !w.IsStopped() {
				t.Error("IsStopped() = false for the watch, want true")
			}
			close(release)
		})
		r.stop()
		if got := r.LastSyncResourceVersion(); got != "3" {
			t.Errorf("LastSyncResourceVersion() = %q, want 3", got)
		}
		if got := r.GetStore().LastStoreSyncResourceVersion(); got != "2" {
			t.Errorf("LastStoreSyncResourceVersion() = %q, want 2", got)
		}
		if got, want := keys(r.GetStore()), []string{"ns/a"}; !slices.Equal(got, want) {
			t.Errorf("ListKeys() = %q, want %q", got, want)
		}
		// The call for version 2 of a may be among the calls: its notification is on its way at the
		// end.
		if calls := handler.Take(); slices.Contains(calls, "OnAdd b 3") {
			t.Errorf("the handler got %q, want no call for b", calls)
		}
	})
}

// Every order of RunWithContext and Stop ends, and all of them return.
func TestManyRunsAndStopsAtOnce(t *testing.T) {
	for range 100 {
		forOurs(t, func(t *testing.T, newInformer maker) {
			r := newRig(newInformer, options(), configMap("a", "1"))
			shared := r.SharedIndexInformer.(*informer.Informer)
			var working sync.WaitGroup
			for range 4 {
				working.Go(func() { r.RunWithContext(t.Context()) })
				working.Go(shared.Stop)
			}
			working.Wait()
			<-shared.ShutdownChan()
			if !r.IsStopped() {
				t.Error("IsStopped() = false, want true")
			}
		})
	}
}
