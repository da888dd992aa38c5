// A program waits until the store holds its own write.

package informer

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
)

// waitFor calls WaitForVersion, and returns what it will return.
func waitFor(ctx context.Context, r *rig, version string) <-chan error {
	result := make(chan error, 1)
	go func() { result <- r.SharedIndexInformer.(*Informer).WaitForVersion(ctx, version) }()
	synctest.Wait()
	return result
}

// is checks what waitFor has given by now: "waiting", "", or words of an error.
func is(t *testing.T, result <-chan error, want string) {
	t.Helper()
	synctest.Wait()
	got := "waiting"
	select {
	case err := <-result:
		if got = ""; err != nil {
			got = err.Error()
		}
	default:
	}
	expect.That(t, got == want || want != "" && strings.Contains(got, want), "got %q, want %q", got, want)
}

func bookmark(w *watch.FakeWatcher, version string) {
	w.Action(watch.Bookmark, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{ResourceVersion: version}})
}

func TestWaitForVersion(t *testing.T) {
	tests := map[string]func(t *testing.T, r *rig, w *watch.FakeWatcher){
		"an event": func(t *testing.T, r *rig, w *watch.FakeWatcher) {
			result := waitFor(t.Context(), r, "12")
			w.Modify(configMap("a", "9")) // 9 comes before 12, as numbers do
			is(t, result, "waiting")
			w.Modify(configMap("a", "12"))
			is(t, result, "")
		},
		"a later event of another object": func(t *testing.T, r *rig, w *watch.FakeWatcher) {
			result := waitFor(t.Context(), r, "12")
			w.Add(configMap("b", "13"))
			is(t, result, "")
		},
		"a deletion": func(t *testing.T, r *rig, w *watch.FakeWatcher) {
			first, second := waitFor(t.Context(), r, "12"), waitFor(t.Context(), r, "13")
			w.Delete(configMap("a", "12"))
			is(t, first, "")
			w.Delete(configMap("stranger", "13")) // that the store does not hold
			is(t, second, "")
		},
		"a version that it has already": func(t *testing.T, r *rig, w *watch.FakeWatcher) {
			w.Modify(configMap("a", "12"))
			synctest.Wait()
			is(t, waitFor(t.Context(), r, "12"), "")
			is(t, waitFor(t.Context(), r, "3"), "")
		},
		"a write that the selector leaves out": func(t *testing.T, r *rig, w *watch.FakeWatcher) {
			result := waitFor(t.Context(), r, "12")
			time.Sleep(time.Minute)
			is(t, result, "waiting")
			bookmark(w, "14")
			is(t, result, "")
		},
		"an event that an index function refuses": func(t *testing.T, r *rig, w *watch.FakeWatcher) {
			must.Do(t, r.AddIndexers(cache.Indexers{"fails": func(obj any) ([]string, error) {
				if obj.(*corev1.ConfigMap).Name == "refused" {
					return nil, errors.New("no index for this one")
				}
				return nil, nil
			}}))
			const refused = "waiting for version 12 of *v1.ConfigMap: the store has refused it"
			result, other := waitFor(t.Context(), r, "12"), waitFor(t.Context(), r, "11")
			w.Add(configMap("refused", "12"))
			is(t, result, refused)
			is(t, other, "waiting")
			bookmark(w, "13")
			is(t, other, "") // that was not the version of a refused event
			is(t, waitFor(t.Context(), r, "12"), refused)
			is(t, waitFor(t.Context(), r, "13"), "")

			r.server.SetVersion("20", configMap("a", "1")) // without it
			fakeapi.Expire(w)
			time.Sleep(time.Minute)
			is(t, waitFor(t.Context(), r, "12"), "") // the list says how things are now
		},
		"a handler that is stuck": func(t *testing.T, r *rig, w *watch.FakeWatcher) {
			stuck := make(chan struct{})
			_, err := r.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(any, any) { <-stuck }})
			must.Do(t, err)
			t.Cleanup(func() { close(stuck) })
			for version := 2; version < 40_000; version++ { // far more than its patience: it is folded
				w.Modify(configMap("a", fmt.Sprint(version)))
			}
			is(t, waitFor(t.Context(), r, "39999"), "")
		},
		"a relist": func(t *testing.T, r *rig, w *watch.FakeWatcher) {
			result := waitFor(t.Context(), r, "12")
			r.server.SetVersion("20", configMap("a", "15"))
			fakeapi.Expire(w)
			time.Sleep(time.Minute) // the reflector waits before it lists again
			is(t, result, "")
		},
		"a version from the future": func(t *testing.T, r *rig, w *watch.FakeWatcher) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			result := waitFor(ctx, r, "1000000")
			w.Modify(configMap("a", "12"))
			is(t, result, "waiting")
			time.Sleep(2 * time.Minute)
			is(t, result, `waiting for version 1000000 of *v1.ConfigMap, the store has "12": context deadline exceeded`)
		},
		"several at a time": func(t *testing.T, r *rig, w *watch.FakeWatcher) {
			first, second := waitFor(t.Context(), r, "12"), waitFor(t.Context(), r, "13")
			w.Modify(configMap("a", "12"))
			is(t, first, "")
			is(t, second, "waiting")
			w.Modify(configMap("a", "13"))
			is(t, second, "")
		},
		"an informer that stops": func(t *testing.T, r *rig, w *watch.FakeWatcher) {
			w.Modify(configMap("a", "12"))
			result := waitFor(t.Context(), r, "13")
			r.stop()
			is(t, result, `the informer has stopped at version "12"`)
		},
		"what is no version": func(t *testing.T, r *rig, w *watch.FakeWatcher) {
			for _, version := range []string{"", "0", "-1", "latest", "1a"} {
				is(t, waitFor(t.Context(), r, version), "resource version is not well formed: "+version)
			}
		},
		"a server whose versions are no numbers": func(t *testing.T, r *rig, w *watch.FakeWatcher) {
			w.Modify(configMap("a", "v12"))
			is(t, waitFor(t.Context(), r, "12"), "the store's own cannot be compared")
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(ours, options(), configMap("a", "1"))
				r.run(t)
				test(t, r, r.server.NextWatch())
			})
		})
	}
}

func TestWaitForVersionBeforeTheFirstList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(ours, options(), configMap("a", "1"))
		result := waitFor(t.Context(), r, "1")
		is(t, result, "waiting")
		r.run(t)
		is(t, result, "")
	})
}

// A transform refuses an event before the store is asked.
func TestWaitForVersionThatATransformRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(ours, options(), configMap("a", "1"))
		must.Do(t, r.SetTransform(func(obj any) (any, error) {
			if obj.(*corev1.ConfigMap).ResourceVersion >= "12" {
				return nil, errors.New("not this one")
			}
			return obj, nil
		}))
		r.run(t)
		w := r.server.NextWatch()
		updated, deleted := waitFor(t.Context(), r, "12"), waitFor(t.Context(), r, "13")
		w.Modify(configMap("a", "12"))
		is(t, updated, "the store has refused it")
		w.Delete(configMap("a", "13"))
		is(t, deleted, "the store has refused it")
	})
}

// What was refused is not kept forever, even if no list comes.
func TestRefusedVersionsAreBounded(t *testing.T) {
	var r refusals
	for version := range 3 * keptRefusals {
		r.add(fakeapi.ConfigMap("a", fmt.Sprint(version)))
	}
	if got := len(r.versions); got != keptRefusals {
		t.Errorf("%d versions are kept, want %d", got, keptRefusals)
	}
	first, last := fmt.Sprint(2*keptRefusals), fmt.Sprint(3*keptRefusals-1)
	if !r.has(first) || !r.has(last) || r.has("0") {
		t.Errorf("kept: %s: %t, %s: %t, 0: %t; want the last ones", first, r.has(first), last, r.has(last), r.has("0"))
	}
}

// When the reflector has returned, nothing can change the store: nobody has to wait for
// the handlers.
func TestWaitForVersionEndsBeforeTheHandlers(t *testing.T) {
	const stopped = `the informer has stopped at version "1"`
	t.Run("a handler that is stuck", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(ours, options(), configMap("a", "1"))
			stuck := make(chan struct{})
			r.handle(t, cache.ResourceEventHandlerFuncs{AddFunc: func(any) { <-stuck }})
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan struct{})
			go func() { r.RunWithContext(ctx); close(ended) }()
			result := waitFor(t.Context(), r, "13")
			cancel()
			is(t, result, stopped)
			is(t, waitFor(t.Context(), r, "13"), stopped)
			close(stuck)
			<-ended
		})
	})
	t.Run("a handler that waits for its own write", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(ours, options(), configMap("a", "1"))
			result := make(chan error, 1)
			r.handle(t, cache.ResourceEventHandlerFuncs{AddFunc: func(any) {
				result <- r.SharedIndexInformer.(*Informer).WaitForVersion(context.Background(), "13")
			}})
			r.run(t)
			r.stop()
			is(t, result, stopped)
		})
	})
}
