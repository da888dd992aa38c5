package informer_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/03-reflector/observer"
	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/record"
)

// A lineObserver adds a line for each event.
type lineObserver struct{ *record.Lines }

func (o lineObserver) Observe(e observer.Event) {
	line := string(e.Kind)
	for _, part := range []string{e.Type, e.Key, e.Version, handlerName(e.Handler)} {
		if part != "" {
			line += " " + part
		}
	}
	if e.Count > 0 {
		line += fmt.Sprint(" ", e.Count)
	}
	if e.Initial {
		line += " initial"
	}
	if e.Err != nil {
		line += ": " + e.Err.Error()
	}
	o.Add("%s", line)
}

// handlerName returns the type of a handler from the name of its registration.
func handlerName(registration string) string {
	return registration[strings.LastIndex(registration, ".")+1:]
}

func TestAnObserverSeesWhatAllPartsDo(t *testing.T) {
	forOurs(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"))
		var seen record.Lines
		must.NoError(t, r.SharedIndexInformer.(*informer.Informer).SetObserver(lineObserver{&seen}))
		registration := r.handle(t, cache.ResourceEventHandlerFuncs{})
		r.run(t)
		seen.WantSorted(t, "appended ADDED ns/a initial", "called ADDED ns/a ResourceEventHandlerFuncs initial",
			"chunk 256", "joined ResourceEventHandlerFuncs", "listed 1 1", "listing 0",
			"stored ADDED ns/a 1 initial", "watching 1")

		w := r.server.NextWatch()
		w.Modify(configMap("a", "2"))
		seen.Want(t, "event MODIFIED ns/a 2", "stored MODIFIED ns/a 2", "appended MODIFIED ns/a",
			"called MODIFIED ns/a ResourceEventHandlerFuncs")
		w.Action(watch.Bookmark, configMap("", "5"))
		seen.Want(t, "bookmark 5")
		w.Delete(configMap("a", "6"))
		seen.Want(t, "event DELETED ns/a 6", "stored DELETED ns/a 6", "appended DELETED ns/a",
			"called DELETED ns/a ResourceEventHandlerFuncs")

		r.server.Fail(errors.New("not today"))
		w.Error(&metav1.Status{Reason: metav1.StatusReasonExpired, Code: 410})
		time.Sleep(2 * time.Second)
		got := strings.Join(seen.Take(), "\n")
		for _, want := range []string{"ended", "backing off", "listing", "not today"} {
			if !strings.Contains(got, want) {
				t.Errorf("the observer has no event with %q:\n%s", want, got)
			}
		}
		must.NoError(t, r.RemoveEventHandler(registration))
		seen.Want(t, "removed ResourceEventHandlerFuncs", "chunk 16")
		if err := r.SharedIndexInformer.(*informer.Informer).SetObserver(nil); err == nil {
			t.Error("SetObserver() = nil while the informer runs, want an error")
		}
	})
}

// A namedHandler is a handler with a method Name.
type namedHandler struct {
	cache.ResourceEventHandlerFuncs
	name string
}

func (h namedHandler) Name() string { return h.name }

// Each Called event has the number of notifications that wait.
func TestAnObserverSeesWhatWaitsForAHandler(t *testing.T) {
	forOurs(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"))
		shared := r.SharedIndexInformer.(*informer.Informer)
		shared.SetPatience(100)
		busy := make(chan struct{})
		r.handle(t, namedHandler{name: "busy", ResourceEventHandlerFuncs: cache.ResourceEventHandlerFuncs{
			AddFunc: func(any) { <-busy },
		}})
		var lines record.Lines
		var folded atomic.Int64
		must.NoError(t, shared.SetObserver(observer.Func(func(e observer.Event) {
			switch e.Kind {
			case observer.Called:
				lines.Add("%s waiting %d", e.Handler, e.Waiting)
			case observer.Folded:
				folded.Add(int64(e.Count))
			}
		})))
		r.run(t)
		w := r.server.NextWatch()
		for v := range 3 {
			w.Modify(configMap("a", fmt.Sprint(v+2)))
		}
		synctest.Wait()
		close(busy)
		lines.Want(t, "busy waiting 3", "busy waiting 2", "busy waiting 1", "busy waiting 0")
		if folded.Load() != 0 {
			t.Errorf("%d notifications were folded, want 0: fewer than the patience wait", folded.Load())
		}
		shared.ResyncNow()
		lines.Want(t, "busy waiting 0")
	})
}

// The notifications that folding has saved and the calls are as many as the appended notifications.
func TestAnObserverSeesWhatIsFolded(t *testing.T) {
	forOurs(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"))
		var appended, called, saved atomic.Int64
		busy := make(chan struct{})
		r.handle(t, cache.ResourceEventHandlerFuncs{AddFunc: func(any) { <-busy }})
		must.NoError(t, r.SharedIndexInformer.(*informer.Informer).SetObserver(observer.Func(func(e observer.Event) {
			switch e.Kind {
			case observer.Appended:
				appended.Add(1)
			case observer.Called:
				called.Add(1)
			case observer.Folded:
				saved.Add(int64(e.Count))
			}
		})))
		r.SharedIndexInformer.(*informer.Informer).SetPatience(1_000) // fewer updates than with the default are enough
		r.run(t)
		w := r.server.NextWatch()
		const updates = 5_000
		for v := range updates {
			w.Modify(configMap("a", fmt.Sprint(v+2)))
		}
		close(busy)
		synctest.Wait()
		if got := appended.Load(); got != updates+1 {
			t.Errorf("%d Appended events, want %d", got, updates+1)
		}
		if saved.Load() == 0 {
			t.Error("no notification was saved, want that the backlog is folded")
		}
		if got := called.Load() + saved.Load(); got != updates+1 {
			t.Errorf("%d calls and %d saved notifications, want %d in all", called.Load(), saved.Load(), updates+1)
		}
	})
}

// The panic reaches the caller of RunWithContext, like the panic of a transform. If the caller
// recovers, the informer has ended as usual.
func TestAnObserverThatPanics(t *testing.T) {
	for _, kind := range []observer.Kind{observer.Listing, observer.Listed, observer.Watching, observer.Stored,
		observer.Appended, observer.Chunk, observer.Joined, observer.Removed} {
		t.Run(string(kind), func(t *testing.T) {
			forOurs(t, func(t *testing.T, newInformer maker) {
				r := newRig(newInformer, options(), configMap("a", "1"))
				shared := r.SharedIndexInformer.(*informer.Informer)
				r.handle(t, cache.ResourceEventHandlerFuncs{})
				must.NoError(t, shared.SetObserver(observer.Func(func(e observer.Event) {
					if e.Kind == kind {
						panic(e.Kind)
					}
				})))
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				panicked := func() (got any) {
					defer func() { got = recover() }()
					r.RunWithContext(ctx)
					return nil
				}()
				if panicked != kind {
					t.Errorf("the caller recovered %v, want %v", panicked, kind)
				}
				<-shared.ShutdownChan()
				if !r.IsStopped() {
					t.Error("IsStopped() = false, want true")
				}
				if err := shared.WaitForVersion(t.Context(), "5"); err == nil {
					t.Error("WaitForVersion() = nil after the end, want an error")
				}
				shared.ResyncNow()
			})
		})
	}
}
