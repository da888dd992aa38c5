// Lists and watches that fail, and the watch error handler.

package informertest

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/tools/cache"
)

// "The WatchErrorHandler is called whenever ListAndWatch drops the connection with an error. After
// calling this handler, the informer will backoff and retry." "There's only one handler, so if you
// call this multiple times, last one wins".
func lastErrorHandler(t *testing.T, newInformer New) {
	r := newRig(newInformer, options{})
	r.server.fail(errNotToday)
	var first, last lines
	noError(t, r.SetWatchErrorHandler(func(_ *cache.Reflector, err error) { first.add("%v", err) }))
	noError(t, r.SetWatchErrorHandler(func(_ *cache.Reflector, err error) {
		last.add("not today: %t", errors.Is(err, errNotToday))
	}))
	handler := r.recorder(t)
	r.run(t)
	first.want(t)
	last.want(t, "not today: true")
	r.server.set(configMap("a", "1"))
	time.Sleep(2 * time.Second)
	handler.want(t, "OnAdd a 1 first")
	last.want(t)
}

// "calling after the informer has been started returns an error"
func setBeforeTheStart(t *testing.T, newInformer New) {
	r := newRig(newInformer, options{})
	r.run(t)
	wantRefused := func(when string) {
		t.Helper()
		for setter, err := range map[string]error{
			"SetWatchErrorHandler": r.SetWatchErrorHandler(func(_ *cache.Reflector, err error) {
				t.Errorf("the handler was called with %v", err)
			}),
			"SetTransform": r.SetTransform(func(obj any) (any, error) {
				t.Errorf("the transform was called with %v", obj)
				return obj, nil
			}),
		} {
			if err == nil || !strings.Contains(err.Error(), "started") {
				t.Errorf("%s: %s() = %v, want an error that contains %q", when, setter, err, "started")
			}
		}
	}
	wantRefused("while it runs")
	r.server.nextWatch().Add(configMap("a", "2"))
	synctest.Wait()
	r.stop()
	wantRefused("after its end")
}

// The reflector resumes a watch that ends, from its last version. The store stays as it is, and
// nothing is delivered twice.
func watchIsResumed(t *testing.T, newInformer New) {
	r := newRig(newInformer, options{}, configMap("a", "1"))
	handler := r.recorder(t)
	r.run(t)
	w := r.server.nextWatch()
	w.Add(configMap("b", "2"))
	w.Stop()
	r.server.nextWatch().Add(configMap("c", "3"))
	handler.want(t, "OnAdd a 1 first", "OnAdd b 2", "OnAdd c 3")
	r.wantRequests(t, 1, 2)
}

func storeIsKept(t *testing.T, newInformer New) {
	r := newRig(newInformer, options{}, configMap("a", "1"))
	noError(t, r.SetWatchErrorHandler(func(*cache.Reflector, error) {}))
	handler := r.recorder(t)
	r.run(t)
	w := r.server.nextWatch()
	r.server.fail(errNotToday)
	w.Stop() // a watch that ends at once, without an event, is not resumed
	time.Sleep(time.Hour)
	r.wantKeys(t, "after an hour", "ns/a")
	if lists, _ := r.server.requests(); lists < 10 {
		t.Errorf("%d lists in an hour, want at least 10", lists)
	}
	handler.want(t, "OnAdd a 1 first")
	r.server.set(configMap("b", "2"))
	time.Sleep(time.Minute)
	handler.wantSorted(t, "OnAdd b 2", "OnDelete tombstone ns/a of 1")
}
