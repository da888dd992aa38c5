// Tests of HasSynced, and of the functions that wait for it.

package informer_test

import (
	"context"
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

	"example.com/informer/scripts/harness/record"
)

// A syncChecker is an informer or a registration.
type syncChecker interface {
	HasSynced() bool
	HasSyncedChecker() cache.DoneChecker
}

func wantSynced(t *testing.T, when string, want bool, all ...syncChecker) {
	t.Helper()
	synctest.Wait()
	for _, s := range all {
		if got := s.HasSynced(); got != want {
			t.Errorf("%s, %T: HasSynced() = %t, want %t", when, s, got, want)
		}
		if got := cache.IsDone(s.HasSyncedChecker()); got != want {
			t.Errorf("%s, %T: IsDone(HasSyncedChecker()) = %t, want %t", when, s, got, want)
		}
	}
}

// hold makes the lists of the server wait until release is called.
func hold(r *rig) (release func()) {
	held, list := make(chan struct{}), r.server.ListWithContextFunc
	r.server.ListWithContextFunc = func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		<-held
		return list(ctx, options)
	}
	return func() { close(held) }
}

// HasSyncedChecker says the same as HasSynced: see wantSynced.
func TestHasSyncedChecker(t *testing.T) {
	forEach(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"))
		calls := make(chan struct{})
		slow := r.handle(t, cache.ResourceEventHandlerFuncs{AddFunc: func(any) { <-calls }})
		quick := r.recorder(t)
		wantSynced(t, "before the start", false, r, slow, quick)
		r.run(t)
		wantSynced(t, "the informer and the quick handler", true, r, quick)
		wantSynced(t, "the slow one, in its call", false, slow)
		calls <- struct{}{}
		synctest.Wait() // its call has returned
		r.stop()
		wantSynced(t, "after the end", true, r, slow, quick)
	})
}

func TestWaitFor(t *testing.T) {
	forEach(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"))
		handler := r.recorder(t)
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if cache.WaitFor(ctx, "", r.HasSyncedChecker(), handler.HasSyncedChecker()) {
			t.Error("WaitFor() = true before the start, want false")
		}
		if took := time.Since(start); took != time.Second {
			t.Errorf("WaitFor() returned after %v, want %v: the timeout of its context", took, time.Second)
		}
		r.run(t)
		if !cache.WaitFor(t.Context(), "", r.HasSyncedChecker(), handler.HasSyncedChecker()) {
			t.Error("WaitFor() = false after the list, want true")
		}
		if !cache.WaitForCacheSync(t.Context().Done(), r.HasSynced, handler.HasSynced) {
			t.Error("WaitForCacheSync() = false after the list, want true")
		}
		if !cache.WaitForNamedCacheSyncWithContext(t.Context(), r.HasSynced, handler.HasSynced) {
			t.Error("WaitForNamedCacheSyncWithContext() = false after the list, want true")
		}
		if !cache.WaitForNamedCacheSync("c", t.Context().Done(), r.GetController().HasSynced) {
			t.Error("WaitForNamedCacheSync() = false after the list, want true")
		}
	})
}

// WaitForCacheSync calls its functions immediately, and then every 100 ms, as its namesakes do. Only
// its channel ends it early.
func TestWhenWaitForCacheSyncAsks(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		wantAsked := func(wait func(cache.InformerSynced) bool) {
			t.Helper()
			start, asked := time.Now(), []time.Duration{}
			synced := wait(func() bool {
				asked = append(asked, time.Since(start))
				return len(asked) == 3
			})
			want := []time.Duration{0, 100 * time.Millisecond, 200 * time.Millisecond}
			if !synced || !slices.Equal(asked, want) {
				t.Errorf("it has returned %t and called the function after %v, want true and %v", synced, asked, want)
			}
		}
		wantAsked(func(f cache.InformerSynced) bool { return cache.WaitForCacheSync(t.Context().Done(), f) })
		wantAsked(func(f cache.InformerSynced) bool { return cache.WaitForNamedCacheSync("c", t.Context().Done(), f) })
		text := logged(t, func(logger klog.Logger) {
			wantAsked(func(f cache.InformerSynced) bool {
				return cache.WaitForNamedCacheSyncWithContext(klog.NewContext(t.Context(), logger), f)
			})
		})
		for _, want := range []string{"Waiting for caches to sync", "Caches are synced"} {
			if !strings.Contains(text, want) {
				t.Errorf("the log does not contain %q:\n%s", want, text)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		never := func() bool { return false }
		if cache.WaitForCacheSync(ctx.Done(), never) {
			t.Error("WaitForCacheSync() = true, want false")
		}
		if ctx.Err() == nil {
			t.Error("WaitForCacheSync() has returned before its channel was closed")
		}
	})
}

// logged calls a function with a logger, and returns the text of the log.
func logged(t *testing.T, run func(klog.Logger)) string {
	logger := ktesting.NewLogger(t, ktesting.NewConfig(ktesting.BufferLogs(true)))
	run(logger)
	return logger.GetSink().(ktesting.Underlier).GetBuffer().String()
}

// WaitFor logs the names of the checkers that are not done.
func TestCheckersHaveNames(t *testing.T) {
	forEach(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options())
		var calls record.Lines
		registration := r.handle(t, record.Handler(&calls))
		text := logged(t, func(logger klog.Logger) {
			ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logger))
			cancel()
			cache.WaitFor(ctx, "", r.HasSyncedChecker(), registration.HasSyncedChecker()) // logs nothing
			cache.WaitFor(ctx, "godot", r.HasSyncedChecker(), registration.HasSyncedChecker())
		})
		for _, want := range []string{"godot", "Informer *v1.ConfigMap", "Informer *v1.ConfigMap + event handler "} {
			if !strings.Contains(text, want) {
				t.Errorf("the log does not contain %q:\n%s", want, text)
			}
		}
	})
}

// A structHandler is a handler with its own type.
type structHandler struct {
	cache.ResourceEventHandlerFuncs
}

// Most handlers are of the type ResourceEventHandlerFuncs. The type alone does not say which
// handler a program waits for.
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
		handlerName := func(newInformer maker) string {
			checker := newRig(newInformer, options()).handle(t, handler).HasSyncedChecker()
			_, name, _ := strings.Cut(checker.Name(), " + event handler ")
			return name
		}
		got, want := handlerName(partTwo), handlerName(cache.NewSharedIndexInformerWithOptions)
		if got != want {
			t.Errorf("%s: the name of the handler is %q, want client-go's name %q", name, got, want)
		}
	}
}

// A mailer has methods that are used as functions of a handler.
type mailer struct{}

func (*mailer) add(any)    {}
func (*mailer) delete(any) {}
