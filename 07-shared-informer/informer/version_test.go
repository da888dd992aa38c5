// Tests of WaitForVersion.

package informer_test

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

	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
)

// waitFor calls WaitForVersion in a goroutine. The channel gets its result.
func waitFor(ctx context.Context, r *rig, version string) <-chan error {
	result := make(chan error, 1)
	go func() { result <- r.SharedIndexInformer.(*informer.Informer).WaitForVersion(ctx, version) }()
	synctest.Wait()
	return result
}

// wantWaiting checks that WaitForVersion has not returned yet.
func wantWaiting(t *testing.T, result <-chan error) {
	t.Helper()
	synctest.Wait()
	select {
	case err := <-result:
		t.Errorf("WaitForVersion() = %v, want that it waits", err)
	default:
	}
}

// wantReached checks that WaitForVersion has returned nil.
func wantReached(t *testing.T, result <-chan error) {
	t.Helper()
	synctest.Wait()
	select {
	case err := <-result:
		if err != nil {
			t.Errorf("WaitForVersion() = %v, want nil", err)
		}
	default:
		t.Error("WaitForVersion() waits, want nil")
	}
}

// wantFailed checks that WaitForVersion has returned an error that contains want.
func wantFailed(t *testing.T, result <-chan error, want string) {
	t.Helper()
	synctest.Wait()
	select {
	case err := <-result:
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("WaitForVersion() = %v, want an error that contains %q", err, want)
		}
	default:
		t.Errorf("WaitForVersion() waits, want an error that contains %q", want)
	}
}

func bookmark(w *watch.FakeWatcher, version string) {
	w.Action(watch.Bookmark, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{ResourceVersion: version}})
}

func TestWaitForVersion(t *testing.T) {
	tests := map[string]func(t *testing.T, r *rig, w *watch.FakeWatcher){
		"an event": func(t *testing.T, r *rig, w *watch.FakeWatcher) {
			result := waitFor(t.Context(), r, "12")
			w.Modify(configMap("a", "9")) // 9 comes before 12, as numbers do
			wantWaiting(t, result)
			w.Modify(configMap("a", "12"))
			wantReached(t, result)
		},
		"a later event of another object": func(t *testing.T, r *rig, w *watch.FakeWatcher) {
			result := waitFor(t.Context(), r, "12")
			w.Add(configMap("b", "13"))
			wantReached(t, result)
		},
		"a deletion": func(t *testing.T, r *rig, w *watch.FakeWatcher) {
			first, second := waitFor(t.Context(), r, "12"), waitFor(t.Context(), r, "13")
			w.Delete(configMap("a", "12"))
			wantReached(t, first)
			w.Delete(configMap("stranger", "13")) // that the store does not hold
			wantReached(t, second)
		},
		"a version that it has already": func(t *testing.T, r *rig, w *watch.FakeWatcher) {
			w.Modify(configMap("a", "12"))
			synctest.Wait()
			wantReached(t, waitFor(t.Context(), r, "12"))
			wantReached(t, waitFor(t.Context(), r, "3"))
		},
		"a write that the selector leaves out": func(t *testing.T, r *rig, w *watch.FakeWatcher) {
			result := waitFor(t.Context(), r, "12")
			time.Sleep(time.Minute)
			wantWaiting(t, result)
			bookmark(w, "14")
			wantReached(t, result)
		},
		"an event that an index function refuses": func(t *testing.T, r *rig, w *watch.FakeWatcher) {
			must.NoError(t, r.AddIndexers(cache.Indexers{"fails": func(obj any) ([]string, error) {
				if obj.(*corev1.ConfigMap).Name == "refused" {
					return nil, errors.New("no index for this one")
				}
				return nil, nil
			}}))
			const refused = "waiting for version 12 of *v1.ConfigMap: the store has refused it"
			result, other := waitFor(t.Context(), r, "12"), waitFor(t.Context(), r, "11")
			w.Add(configMap("refused", "12"))
			wantFailed(t, result, refused)
			wantWaiting(t, other)
			bookmark(w, "13")
			wantReached(t, other) // that was not the version of a refused event
			wantFailed(t, waitFor(t.Context(), r, "12"), refused)
			wantReached(t, waitFor(t.Context(), r, "13"))

			r.server.SetVersion("20", configMap("a", "1")) // without it
			fakeapi.Expire(w)
			time.Sleep(time.Minute)
			wantReached(t, waitFor(t.Context(), r, "12")) // the list says how things are now
		},
		"a list that is refused": func(t *testing.T, r *rig, w *watch.FakeWatcher) {
			must.NoError(t, r.AddIndexers(cache.Indexers{"fails": func(obj any) ([]string, error) {
				if obj.(*corev1.ConfigMap).Name == "refused" {
					return nil, errors.New("no index for this one")
				}
				return nil, nil
			}}))
			w.Add(configMap("refused", "12"))
			bookmark(w, "13")
			r.server.SetVersion("20", configMap("refused", "12"))
			fakeapi.Expire(w)
			time.Sleep(time.Minute)
			wantFailed(t, waitFor(t.Context(), r, "12"), "the store has refused it") // and still does
		},
		"a handler that is stuck": func(t *testing.T, r *rig, w *watch.FakeWatcher) {
			stuck := make(chan struct{})
			_, err := r.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(any, any) { <-stuck }})
			must.NoError(t, err)
			t.Cleanup(func() { close(stuck) })
			for version := 2; version < 40_000; version++ { // far more than its patience: it is folded
				w.Modify(configMap("a", fmt.Sprint(version)))
			}
			wantReached(t, waitFor(t.Context(), r, "39999"))
		},
		"a relist": func(t *testing.T, r *rig, w *watch.FakeWatcher) {
			result := waitFor(t.Context(), r, "12")
			r.server.SetVersion("20", configMap("a", "15"))
			fakeapi.Expire(w)
			time.Sleep(time.Minute) // the reflector waits before it lists again
			wantReached(t, result)
		},
		"a version from the future": func(t *testing.T, r *rig, w *watch.FakeWatcher) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			result := waitFor(ctx, r, "1000000")
			w.Modify(configMap("a", "12"))
			wantWaiting(t, result)
			time.Sleep(2 * time.Minute)
			wantFailed(t, result,
				`waiting for version 1000000 of *v1.ConfigMap, the store has "12": context deadline exceeded`)
		},
		"several at a time": func(t *testing.T, r *rig, w *watch.FakeWatcher) {
			first, second := waitFor(t.Context(), r, "12"), waitFor(t.Context(), r, "13")
			w.Modify(configMap("a", "12"))
			wantReached(t, first)
			wantWaiting(t, second)
			w.Modify(configMap("a", "13"))
			wantReached(t, second)
		},
		"an informer that stops": func(t *testing.T, r *rig, w *watch.FakeWatcher) {
			w.Modify(configMap("a", "12"))
			result := waitFor(t.Context(), r, "13")
			r.stop()
			wantFailed(t, result, `the informer has stopped at version "12"`)
		},
		"what is not a version": func(t *testing.T, r *rig, w *watch.FakeWatcher) {
			for _, version := range []string{"", "0", "-1", "latest", "1a"} {
				wantFailed(t, waitFor(t.Context(), r, version), "resource version is not well formed: "+version)
			}
		},
		"a server whose versions are not numbers": func(t *testing.T, r *rig, w *watch.FakeWatcher) {
			w.Modify(configMap("a", "v12"))
			wantFailed(t, waitFor(t.Context(), r, "12"), "the store's own cannot be compared")
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			forOurs(t, func(t *testing.T, newInformer maker) {
				r := newRig(newInformer, options(), configMap("a", "1"))
				r.run(t)
				test(t, r, r.server.NextWatch())
			})
		})
	}
}

func TestWaitForVersionBeforeTheFirstList(t *testing.T) {
	forOurs(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"))
		result := waitFor(t.Context(), r, "1")
		wantWaiting(t, result)
		r.run(t)
		wantReached(t, result)
	})
}

// A transform fails, and so the event does not reach the store.
func TestWaitForVersionThatATransformRefuses(t *testing.T) {
	forOurs(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"))
		must.NoError(t, r.SetTransform(func(obj any) (any, error) {
			if obj.(*corev1.ConfigMap).ResourceVersion >= "12" {
				return nil, errors.New("not this one")
			}
			return obj, nil
		}))
		r.run(t)
		w := r.server.NextWatch()
		updated, deleted := waitFor(t.Context(), r, "12"), waitFor(t.Context(), r, "13")
		w.Modify(configMap("a", "12"))
		wantFailed(t, updated, "the store has refused it")
		w.Delete(configMap("a", "13"))
		wantFailed(t, deleted, "the store has refused it")
	})
}

// When the reflector has returned, nothing changes the store any more. So WaitForVersion does not
// wait for the handlers.
func TestWaitForVersionEndsBeforeTheHandlers(t *testing.T) {
	const stopped = `the informer has stopped at version "1"`
	t.Run("a handler that is stuck", func(t *testing.T) {
		forOurs(t, func(t *testing.T, newInformer maker) {
			r := newRig(newInformer, options(), configMap("a", "1"))
			stuck := make(chan struct{})
			r.handle(t, cache.ResourceEventHandlerFuncs{AddFunc: func(any) { <-stuck }})
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan struct{})
			go func() {
				r.RunWithContext(ctx)
				close(ended)
			}()
			result := waitFor(t.Context(), r, "13")
			cancel()
			wantFailed(t, result, stopped)
			wantFailed(t, waitFor(t.Context(), r, "13"), stopped)
			close(stuck)
			<-ended
		})
	})
	t.Run("a handler that waits for its own write", func(t *testing.T) {
		forOurs(t, func(t *testing.T, newInformer maker) {
			r := newRig(newInformer, options(), configMap("a", "1"))
			result := make(chan error, 1)
			r.handle(t, cache.ResourceEventHandlerFuncs{AddFunc: func(any) {
				result <- r.SharedIndexInformer.(*informer.Informer).WaitForVersion(context.Background(), "13")
			}})
			r.run(t)
			r.stop()
			wantFailed(t, result, stopped)
		})
	})
}
