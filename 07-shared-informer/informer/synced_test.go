// Who has synced, and how to wait for it.

package informer

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/record"
)

// A syncChecker is what both an informer and a registration can be asked.
type syncChecker interface {
	HasSynced() bool
	HasSyncedChecker() cache.DoneChecker
}

func wantSynced(t *testing.T, when string, want bool, all ...syncChecker) {
	t.Helper()
	synctest.Wait()
	for _, s := range all {
		if got, done := s.HasSynced(), cache.IsDone(s.HasSyncedChecker()); got != want || done != want {
			t.Errorf("%s, %T: HasSynced() = %t, its checker is done: %t; want %t", when, s, got, done, want)
		}
	}
}

// The informer has synced as soon as the store has the list; a handler when it
// has returned from the last of it, and not while it is busy with that.
func TestSyncedIsAnotherThingForAHandler(t *testing.T) {
	forBoth(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"), configMap("b", "1"))
		calls := make(chan struct{})
		slow := r.handle(t, cache.ResourceEventHandlerFuncs{AddFunc: func(any) { <-calls }})
		quick := r.recorder(t)
		wantSynced(t, "before the start", false, r, slow)
		r.run(t)
		wantSynced(t, "the informer and the quick handler", true, r, quick)
		wantSynced(t, "the slow one, in its first call", false, slow)
		calls <- struct{}{}
		wantSynced(t, "the slow one, in its last call", false, slow)
		calls <- struct{}{}
		wantSynced(t, "the slow one, when it has returned", true, slow)
	})
}

func TestAnEmptyListSyncs(t *testing.T) {
	forBoth(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options())
		early := r.recorder(t)
		r.run(t)
		wantSynced(t, "after the list", true, r, early, r.recorder(t))
	})
}

// What happens after the list does not delay the sync, nor undo it.
func TestALateHandlerSyncsOverItsStartupBatch(t *testing.T) {
	forBoth(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"))
		r.run(t)
		w := r.server.NextWatch()
		calls := make(chan struct{})
		late := r.handle(t, cache.ResourceEventHandlerFuncs{AddFunc: func(any) { <-calls }})
		w.Add(configMap("b", "2"))
		wantSynced(t, "in the call for the batch", false, late)
		calls <- struct{}{}
		wantSynced(t, "in the call for what came after", true, late)
		calls <- struct{}{}
		wantSynced(t, "after all calls", true, late)
	})
}

// hold makes the server's lists wait.
func hold(r *rig) (release func()) {
	held, list := make(chan struct{}), r.server.ListWithContextFunc
	r.server.ListWithContextFunc = func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		<-held
		return list(ctx, options)
	}
	return func() { close(held) }
}

func TestAHandlerThatComesWhileTheListIsUnderWay(t *testing.T) {
	forBoth(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"))
		release := hold(r)
		r.run(t)
		between := r.recorder(t)
		between.Want(t)
		wantSynced(t, "before the list", false, r, between)
		release()
		between.Want(t, "OnAdd a 1 first")
		wantSynced(t, "after the list", true, r, between)
	})
}

func TestAFailedListDoesNotSync(t *testing.T) {
	forBoth(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"))
		r.server.Fail(errors.New("not today"))
		handler := r.recorder(t)
		r.run(t)
		wantSynced(t, "before the list", false, r, handler)
		r.server.Set(configMap("a", "1"))
		time.Sleep(2 * time.Second)
		handler.Want(t, "OnAdd a 1 first")
		wantSynced(t, "after the list", true, r, handler)
	})
}

// It stays as it was, whichever it was.
func TestSyncedAfterTheEnd(t *testing.T) {
	forBoth(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"))
		handler := r.recorder(t)
		r.run(t)
		r.stop()
		wantSynced(t, "after a sync", true, r, handler)

		r = newRig(newInformer, options())
		release := hold(r)
		handler = r.recorder(t)
		r.run(t)
		r.stop()
		wantSynced(t, "without a sync", false, r, handler)
		release()
	})
}

func TestWaitFor(t *testing.T) {
	forBoth(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"))
		handler := r.recorder(t)
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if cache.WaitFor(ctx, "", r.HasSyncedChecker(), handler.HasSyncedChecker()) ||
			time.Since(start) != time.Second {
			t.Errorf("WaitFor() = true before the start, or after %v", time.Since(start))
		}
		r.run(t)
		expect.That(t, cache.WaitFor(t.Context(), "", r.HasSyncedChecker(), handler.HasSyncedChecker()),
			"WaitFor() = false")
		expect.That(t, cache.WaitForCacheSync(t.Context().Done(), r.HasSynced, handler.HasSynced),
			"WaitForCacheSync() = false")
		expect.That(t, cache.WaitForNamedCacheSyncWithContext(t.Context(), r.HasSynced, handler.HasSynced),
			"WaitForNamedCacheSyncWithContext() = false")
		expect.That(t, cache.WaitForNamedCacheSync("c", t.Context().Done(), r.GetController().HasSynced),
			"WaitForNamedCacheSync() = false")
	})
}

// WaitForCacheSync asks at once, and then every 100 ms. Only its channel ends it early.
func TestWhenWaitForCacheSyncAsks(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		start, asked := time.Now(), []time.Duration{}
		text := logged(t, func(logger klog.Logger) {
			cache.WaitForNamedCacheSyncWithContext(klog.NewContext(t.Context(), logger), func() bool {
				asked = append(asked, time.Since(start))
				return len(asked) == 3
			})
		})
		expect.That(t, slices.Equal(asked, []time.Duration{0, 100 * time.Millisecond, 200 * time.Millisecond}) &&
			strings.Contains(text, "Waiting for caches to sync") && strings.Contains(text, "Caches are synced"),
			"asked after %v, and logged\n%s", asked, text)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		never := func() bool { return false }
		expect.That(t, !cache.WaitForCacheSync(ctx.Done(), never) && ctx.Err() != nil, "it did not wait")
	})
}

// logged runs something with a logger, and returns what was logged.
func logged(t *testing.T, run func(klog.Logger)) string {
	logger := ktesting.NewLogger(t, ktesting.NewConfig(ktesting.BufferLogs(true)))
	run(logger)
	return logger.GetSink().(ktesting.Underlier).GetBuffer().String()
}

// The log names what a program waits for in vain.
func TestCheckersHaveNames(t *testing.T) {
	forBoth(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options())
		var calls record.Lines
		registration := r.handle(t, record.Handler(&calls))
		text := logged(t, func(logger klog.Logger) {
			ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logger))
			cancel()
			cache.WaitFor(ctx, "godot", r.HasSyncedChecker(), registration.HasSyncedChecker())
		})
		for _, want := range []string{"godot", "Informer *v1.ConfigMap", "Informer *v1.ConfigMap + event handler "} {
			expect.That(t, strings.Contains(text, want), "logged:\n%s\nwant %q in it", text, want)
		}
	})
}

// A structHandler has a type of its own.
type structHandler struct {
	cache.ResourceEventHandlerFuncs
}

// Most handlers are made of functions, and of one type. A name that is the type
// does not say which of them a program waits for.
func TestHandlersAreNamedAsInClientGo(t *testing.T) {
	none, mail := cache.ResourceEventHandlerFuncs{}, new(mailer)
	for name, handler := range map[string]cache.ResourceEventHandler{
		"functions":           cache.ResourceEventHandlerFuncs{AddFunc: func(any) {}, DeleteFunc: func(any) {}},
		"pointer":             &cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, _ any) {}},
		"of two places":       cache.ResourceEventHandlerFuncs{UpdateFunc: none.OnUpdate, DeleteFunc: func(any) {}},
		"no function":         none,
		"method values":       cache.ResourceEventHandlerFuncs{AddFunc: mail.add, DeleteFunc: mail.delete},
		"filter":              cache.FilteringResourceEventHandler{Handler: none},
		"detailed":            cache.ResourceEventHandlerDetailedFuncs{AddFunc: func(any, bool) {}},
		"struct":              structHandler{},
		"pointer to a struct": &structHandler{},
		"nil pointer":         (*structHandler)(nil),
	} {
		names := map[string]string{}
		for by, newInformer := range implementations {
			registration := newRig(newInformer, options()).handle(t, handler)
			_, names[by], _ = strings.Cut(registration.HasSyncedChecker().Name(), " + event handler ")
		}
		if got, want := names["ours"], names["client-go"]; got != want {
			t.Errorf("%s: got %q, want client-go's %q", name, got, want)
		}
	}
}

// A mailer has methods that are handed over as functions.
type mailer struct{}

func (*mailer) add(any)    {}
func (*mailer) delete(any) {}
