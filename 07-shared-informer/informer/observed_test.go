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
	"example.com/informer/06-processor/processor"
	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/07-shared-informer/journal"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/record"
)

// kindOf returns the type of an event, such as "observer.Listing".
func kindOf(event any) string { return fmt.Sprintf("%T", event) }

// kindsBeforeCalls are the events that an informer with a handler reports, without those of calls.
var kindsBeforeCalls = []string{
	"observer.Listing", "observer.Listed", "observer.Watching", "informer.Stored", "processor.Appended",
	"journal.ChunkStarted", "processor.Joined", "processor.Removed",
}

// A lineObserver adds a line for each event.
type lineObserver struct{ *record.Lines }

func (o lineObserver) Observe(event any) {
	change := func(n processor.Notification) string {
		text := map[processor.Kind]string{
			processor.Added: "add", processor.Updated: "update", processor.Deleted: "delete",
		}[n.Kind] + " " + n.Key
		if n.Initial {
			text += " initial"
		}
		return text
	}
	handler := func(r *processor.Registration) string { // its type
		return r.HandlerName()[strings.LastIndex(r.HandlerName(), ".")+1:]
	}
	switch e := event.(type) {
	case informer.Stored:
		o.Add("stored %s %s", change(e.Notification), e.Version)
	case processor.Appended:
		o.Add("appended %s", change(e.Notification))
	case processor.Called:
		o.Add("called %s %s", handler(e.Registration), change(e.Notification))
	case processor.Joined:
		o.Add("joined %s", handler(e.Registration))
	case processor.Removed:
		o.Add("removed %s", handler(e.Registration))
	case observer.Received:
		o.Add("received %s %s %s", e.Type, e.Key, e.Version)
	default:
		o.Add("%s %v", kindOf(event), event)
	}
}

func TestAnObserverSeesWhatAllPartsDo(t *testing.T) {
	forOurs(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"))
		var seen record.Lines
		must.NoError(t, r.SharedIndexInformer.(*informer.Informer).SetObserver(lineObserver{&seen}))
		registration := r.handle(t, cache.ResourceEventHandlerFuncs{})
		r.run(t)
		seen.WantSorted(t, "appended add ns/a initial", "called ResourceEventHandlerFuncs add ns/a initial",
			"joined ResourceEventHandlerFuncs", "journal.ChunkStarted {256}", "observer.Listed {1 1}",
			"observer.Listing {0 false}", "observer.Watching {1}", "stored add ns/a initial 1")

		w := r.server.NextWatch()
		w.Modify(configMap("a", "2"))
		seen.Want(t, "received MODIFIED ns/a 2", "stored update ns/a 2", "appended update ns/a",
			"called ResourceEventHandlerFuncs update ns/a")
		w.Action(watch.Bookmark, configMap("", "5"))
		seen.Want(t, "observer.Bookmark {5}")
		w.Delete(configMap("a", "6"))
		seen.Want(t, "received DELETED ns/a 6", "stored delete ns/a 6", "appended delete ns/a",
			"called ResourceEventHandlerFuncs delete ns/a")

		r.server.Fail(errors.New("not today"))
		w.Error(&metav1.Status{Reason: metav1.StatusReasonExpired, Code: 410})
		time.Sleep(2 * time.Second)
		got := strings.Join(seen.Take(), "\n")
		for _, want := range []string{"Ended", "BackingOff", "Listing", "not today"} {
			if !strings.Contains(got, want) {
				t.Errorf("the observer has no event with %q:\n%s", want, got)
			}
		}
		must.NoError(t, r.RemoveEventHandler(registration))
		seen.Want(t, "removed ResourceEventHandlerFuncs", "journal.ChunkStarted {16}")
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
		must.NoError(t, shared.SetObserver(observer.Func(func(event any) {
			switch e := event.(type) {
			case processor.Called:
				lines.Add("%s waiting %d", e.Registration.HandlerName(), e.Waiting)
			case journal.Folded:
				folded.Add(int64(e.Saved))
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
		must.NoError(t, r.SharedIndexInformer.(*informer.Informer).SetObserver(observer.Func(func(event any) {
			switch e := event.(type) {
			case processor.Appended:
				appended.Add(1)
			case processor.Called:
				called.Add(1)
			case journal.Folded:
				saved.Add(int64(e.Saved))
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
	for _, kind := range kindsBeforeCalls {
		t.Run(kind, func(t *testing.T) {
			forOurs(t, func(t *testing.T, newInformer maker) {
				r := newRig(newInformer, options(), configMap("a", "1"))
				shared := r.SharedIndexInformer.(*informer.Informer)
				r.handle(t, cache.ResourceEventHandlerFuncs{})
				must.NoError(t, shared.SetObserver(observer.Func(func(event any) {
					if kindOf(event) == kind {
						panic(kind)
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
