// Where ours differs from client-go's informer, on purpose.

package informer

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"example.com/informer/05-watchdog/calls/callstest"
	"example.com/informer/05-watchdog/fakeserver"
)

// inFakeTime runs a test of ours.
func inFakeTime(t *testing.T, test func(t *testing.T)) { synctest.Test(t, test) }

// The call counts as made, the next one follows at once, the others do not
// notice, and the logger of the handler's options is told.
func TestAHandlerThatPanics(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		r := newRig(ours, options(), configMap("a", "1"))
		var panicking cache.ResourceEventHandlerRegistration
		var told callstest.Lines
		start := time.Now()
		text := logged(t, func(logger klog.Logger) {
			record := callstest.Recorder(&told)
			panicking = r.handle(t, cache.ResourceEventHandlerDetailedFuncs{
				AddFunc:    func(obj any, first bool) { record.OnAdd(obj, first); panic("ouch") },
				UpdateFunc: func(oldObj, newObj any) { record.OnUpdate(oldObj, newObj); panic(fmt.Errorf("ouch")) },
				DeleteFunc: func(obj any) { record.OnDelete(obj); panic("ouch") },
			}, cache.HandlerOptions{Logger: &logger})
			calm := r.client(t)
			r.run(t)
			wantSynced(t, "the one that panicked", panicking, true)
			w := r.server.NextWatch()
			w.Modify(configMap("a", "2"))
			w.Delete(configMap("a", "3"))
			want := []string{"OnAdd a 1 first", "OnUpdate a 2, was 1", "OnDelete a 3"}
			told.Want(t, want...)
			calm.Want(t, want...)
			r.stop()
		})
		if n := strings.Count(text, "told of ns/a: ouch"); n != 3 || time.Since(start) != 0 {
			t.Errorf("%d panics reported, in %v; want 3, at once:\n%s", n, time.Since(start), text)
		}
	})
}

// panics names, in the environment, the informer whose handler panics in the
// program that this test then is.
const panics = "INFORMER_TEST_PANICS"

func panicInside(newInformer maker) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	informer := newInformer(fakeserver.New(configMap("a", "1")), &corev1.ConfigMap{}, options())
	_, _ = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) { panic("ouch") }})
	_, _ = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) { time.AfterFunc(time.Second, cancel) }})
	informer.RunWithContext(ctx)
}

func TestAHandlerThatPanicsEndsAProgramOfClientGo(t *testing.T) {
	for name, wantDeath := range map[string]bool{"client-go": true, "ours": false} {
		program := exec.CommandContext(t.Context(), os.Args[0])
		program.Env = append(os.Environ(), panics+"="+name)
		if out, err := program.CombinedOutput(); (err != nil) != wantDeath || !strings.Contains(string(out), "ouch") {
			t.Errorf("%s: the program ended with %v, want an error: %t\n%s", name, err, wantDeath, out)
		}
	}
}

func TestTheEndOfSomethingUnknownIsNotTold(t *testing.T) {
	for name, want := range map[string][]string{"client-go": {"OnDelete never-seen 2"}, "ours": nil} {
		inFakeTime(t, func(t *testing.T) {
			r := newRig(subjects[name], options())
			told := r.client(t)
			r.run(t)
			r.server.NextWatch().Delete(configMap("never-seen", "2"))
			told.Want(t, want...)
		})
	}
}

func TestNilIndexersAreNone(t *testing.T) {
	add := func(informer cache.SharedIndexInformer) (p any) {
		defer func() { p = recover() }()
		must(t, informer.AddIndexers(cache.Indexers{"name": byName}))
		return nil
	}
	for name, want := range map[string]bool{"client-go": true, "ours": false} {
		informer := subjects[name](fakeserver.New(), &corev1.ConfigMap{}, cache.SharedIndexInformerOptions{})
		if p := add(informer); (p != nil) != want {
			t.Errorf("%s: AddIndexers panics with %v, want a panic: %t", name, p, want)
		}
	}
}

func TestTheCallersIndexersStayAsTheyAre(t *testing.T) {
	for name, want := range map[string][]string{"client-go": {"name", "version"}, "ours": {"name"}} {
		indexers := cache.Indexers{"name": byName}
		informer := subjects[name](fakeserver.New(), &corev1.ConfigMap{}, cache.SharedIndexInformerOptions{Indexers: indexers})
		must(t, informer.AddIndexers(cache.Indexers{"version": byVersion}))
		if got := slices.Sorted(maps.Keys(indexers)); !slices.Equal(got, want) {
			t.Errorf("%s: the caller's indexers are %v now, want %v", name, got, want)
		}
	}
}

func TestNoHandlerIsRefusedAtOnce(t *testing.T) {
	registration, err := newRig(ours, options()).AddEventHandler(nil)
	if registration != nil || err == nil || !strings.Contains(err.Error(), "nil") {
		t.Errorf("AddEventHandler(nil) = %v, %v; want an error", registration, err)
	}
}

// The comment of NewSharedIndexInformerWithOptions says that the resync checking
// period is a second at least. There, it is so only if a handler asks in time.
func TestTheCheckPeriodIsASecondAtLeast(t *testing.T) {
	for name, want := range map[string][]string{"client-go": {"1.5s", "3s", "4.5s"}, "ours": {"2s", "4s"}} {
		inFakeTime(t, func(t *testing.T) {
			r := newRig(subjects[name], resyncing(100*time.Millisecond), configMap("a", "1"))
			r.run(t)
			var told callstest.Lines
			r.handle(t, ticks(&told), every(1500*time.Millisecond))
			time.Sleep(5 * time.Second)
			told.Want(t, want...)
		})
	}
}

// What waits is dropped. (Client-go drops it too, but for the next call.)
func TestNoCallBeginsAfterTheRemoval(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		r := newRig(ours, options(), configMap("a", "1"))
		var told callstest.Lines
		busy := make(chan struct{})
		registration := r.handle(t, cache.ResourceEventHandlerFuncs{AddFunc: func(any) { told.Add("called"); <-busy }})
		r.run(t)
		w := r.server.NextWatch()
		w.Add(configMap("b", "2"))
		w.Add(configMap("c", "3"))
		told.Want(t, "called")
		must(t, r.RemoveEventHandler(registration))
		close(busy)
		told.Want(t)
	})
}

// A handler has a name, and so has its informer, which may be described.
func TestNamesOfCheckers(t *testing.T) {
	described := options()
	described.ObjectDescription = "widgets"
	for want, options := range map[string]cache.SharedIndexInformerOptions{"*v1.ConfigMap": options(), "widgets": described} {
		r := newRig(ours, options)
		registration := r.handle(t, cache.ResourceEventHandlerFuncs{})
		if got := r.HasSyncedChecker().Name(); got != "Informer "+want {
			t.Errorf("the informer is called %q", got)
		}
		if got := registration.HasSyncedChecker().Name(); got != "Informer "+want+" + event handler cache.ResourceEventHandlerFuncs" {
			t.Errorf("the handler is called %q", got)
		}
	}
}

// 100,000 updates of an object while a handler is stuck: when it wakes, it is
// told of one that leads far ahead from the state that it knows, and of the few
// that were not folded yet.
func TestAStalledHandlerIsNotToldOfEveryChange(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		r := newRig(ours, options(), configMap("first", "1"))
		told, busy := &callstest.Lines{}, make(chan struct{})
		record := callstest.Recorder(told)
		registration := r.handle(t, cache.ResourceEventHandlerDetailedFuncs{
			AddFunc: func(obj any, first bool) { record.OnAdd(obj, first); <-busy }, UpdateFunc: record.OnUpdate, DeleteFunc: record.OnDelete,
		})
		r.run(t)
		w := r.server.NextWatch()
		w.Modify(configMap("first", "2"))
		w.Add(configMap("short", "3"))
		for i := range 100_000 {
			w.Modify(configMap("first", version(i+4)))
		}
		w.Delete(configMap("short", "100004"))
		told.Want(t, "OnAdd first 1 first")
		close(busy)
		wantSynced(t, "after its backlog", registration, true)
		calls := told.Take()
		if len(calls) > 1000 || !strings.HasPrefix(calls[0], "OnUpdate first ") || !strings.HasSuffix(calls[0], ", was 1") {
			t.Errorf("%d calls, of which the first is %q", len(calls), calls[0])
		}
		if last := calls[len(calls)-1]; !slices.ContainsFunc(calls[len(calls)-2:], func(call string) bool {
			return strings.HasPrefix(call, "OnUpdate first 100003,")
		}) {
			t.Errorf("the last call is %q, want that first is at 100003", last)
		}
		if slices.Contains(calls, "OnAdd short 3") != slices.Contains(calls, "OnDelete short 100004") {
			t.Error("something was added, or deleted, and not both")
		}
	})
}
