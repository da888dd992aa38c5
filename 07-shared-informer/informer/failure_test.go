// Lists that fail, and which handler is called.

package informer

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
)

var errNotToday = errors.New("not today")

// A handler of one's own takes the place of that line, unless it calls the default.
func TestWithoutAWatchErrorHandlerTheErrorIsLogged(t *testing.T) {
	own := func(context.Context, *cache.Reflector, error) {}
	for name, set := range map[string]func(cache.SharedInformer) error{
		"none": func(cache.SharedInformer) error { return nil },
		"nil":  func(i cache.SharedInformer) error { return i.SetWatchErrorHandlerWithContext(nil) },
		"own":  func(i cache.SharedInformer) error { return i.SetWatchErrorHandlerWithContext(own) },
		"default": func(i cache.SharedInformer) error {
			return i.SetWatchErrorHandlerWithContext(cache.DefaultWatchErrorHandler)
		},
	} {
		t.Run(name, func(t *testing.T) {
			forBoth(t, func(t *testing.T, newInformer maker) {
				r := newRig(newInformer, options())
				r.server.Fail(errNotToday)
				must.Do(t, set(r))
				handled.Take()
				r.run(t)
				if name == "own" {
					handled.Want(t)
				} else {
					handled.Want(t, "Failed to watch: failed to list *v1.ConfigMap: not today")
				}
			})
		})
	}
}

// "calling after the informer has been started returns an error"
func TestWhatHasToBeSetBeforeTheStart(t *testing.T) {
	forBoth(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options())
		r.run(t)
		for round := range 2 { // while it runs, and afterwards
			for what, err := range map[string]error{
				"SetWatchErrorHandler": r.SetWatchErrorHandler(func(*cache.Reflector, error) { t.Error("called") }),
				"SetWatchErrorHandlerWithContext": r.SetWatchErrorHandlerWithContext(
					func(context.Context, *cache.Reflector, error) { t.Error("called") }),
				"SetTransform": r.SetTransform(func(any) (any, error) { t.Error("asked"); return nil, nil }),
			} {
				expect.That(t, err != nil && strings.Contains(err.Error(), "started"),
					"round %d: %s() = %v, want an error: it has started", round, what, err)
			}
			if round == 0 {
				r.server.NextWatch().Add(configMap("a", "2"))
				synctest.Wait()
				r.stop()
			}
		}
	})
}

// A watch that ends is taken up again from where it was; the store stays as it
// is, nothing is delivered twice.
func TestAWatchThatEndsIsResumed(t *testing.T) {
	forBoth(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"))
		handler := r.recorder(t)
		r.run(t)
		w := r.server.NextWatch()
		w.Add(configMap("b", "2"))
		w.Stop()
		r.server.NextWatch().Add(configMap("c", "3"))
		handler.Want(t, "OnAdd a 1 first", "OnAdd b 2", "OnAdd c 3")
		lists := r.server.Lists()
		expect.That(t, lists == 1, "%d lists, want 1", lists)
	})
}

// While lists fail, what is known is kept.
func TestTheStoreIsKeptWhileListsFail(t *testing.T) {
	forBoth(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"))
		must.Do(t, r.SetWatchErrorHandler(func(*cache.Reflector, error) {}))
		handler := r.recorder(t)
		r.run(t)
		w := r.server.NextWatch()
		r.server.Fail(errNotToday)
		w.Stop() // without an event, at once: it is not resumed
		time.Sleep(time.Hour)
		if got := keys(r.GetStore()); !slices.Equal(got, []string{"ns/a"}) || r.server.Lists() < 10 {
			t.Errorf("the store holds %v after %d lists", got, r.server.Lists())
		}
		handler.Want(t, "OnAdd a 1 first")
		r.server.Set(configMap("b", "2"))
		time.Sleep(time.Minute)
		handler.Want(t, "OnDelete tombstone ns/a of 1", "OnAdd b 2")
	})
}
