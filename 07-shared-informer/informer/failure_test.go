// Lists and watches that fail, and the watch error handler.

package informer_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/record"
)

var errNotToday = errors.New("not today")

type contextKey struct{}

// "The WatchErrorHandler is called whenever ListAndWatch drops the connection with an error. After
// calling this handler, the informer will backoff and retry." "There's only one handler, so if you
// call this multiple times, last one wins".
func TestTheLastWatchErrorHandlerIsCalled(t *testing.T) {
	forEach(t, func(t *testing.T, newInformer maker) {
		var first, last record.Lines
		withContext := func(l *record.Lines) cache.WatchErrorHandlerWithContext {
			return func(ctx context.Context, r *cache.Reflector, err error) {
				l.Add("%v, %s, %t", ctx.Value(contextKey{}), r.TypeDescription(), errors.Is(err, errNotToday))
			}
		}
		plain := func(l *record.Lines) cache.WatchErrorHandler {
			return func(r *cache.Reflector, err error) {
				l.Add("%s, %t", r.TypeDescription(), errors.Is(err, errNotToday))
			}
		}
		for _, test := range []struct {
			set  func(cache.SharedInformer) error // sets two handlers
			want string                           // the line of the last one
		}{
			{
				set: func(i cache.SharedInformer) error {
					return errors.Join(i.SetWatchErrorHandlerWithContext(withContext(&first)),
						i.SetWatchErrorHandler(plain(&last)))
				},
				want: "*v1.ConfigMap, true",
			},
			{
				set: func(i cache.SharedInformer) error {
					return errors.Join(i.SetWatchErrorHandler(plain(&first)),
						i.SetWatchErrorHandlerWithContext(withContext(&last)))
				},
				want: "a value, *v1.ConfigMap, true",
			},
		} {
			r := newRig(newInformer, options())
			r.server.Fail(errNotToday)
			must.NoError(t, test.set(r))
			handler := r.recorder(t)
			stop := must.Run(t, func(ctx context.Context) {
				r.RunWithContext(context.WithValue(ctx, contextKey{}, "a value"))
			})
			first.Want(t)
			last.Want(t, test.want)
			r.server.Set(configMap("a", "1"))
			time.Sleep(2 * time.Second)
			handler.Want(t, "OnAdd a 1 first")
			last.Want(t)
			stop()
		}
	})
}

// Another handler replaces the line in the log, unless it calls the default.
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
			forEach(t, func(t *testing.T, newInformer maker) {
				r := newRig(newInformer, options())
				r.server.Fail(errNotToday)
				must.NoError(t, set(r))
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
	forEach(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options())
		r.run(t)
		wantRefused := func(when string) {
			t.Helper()
			for setter, err := range map[string]error{
				"SetWatchErrorHandler": r.SetWatchErrorHandler(func(_ *cache.Reflector, err error) {
					t.Errorf("the handler was called with %v", err)
				}),
				"SetWatchErrorHandlerWithContext": r.SetWatchErrorHandlerWithContext(
					func(_ context.Context, _ *cache.Reflector, err error) {
						t.Errorf("the handler with a context was called with %v", err)
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
		r.server.NextWatch().Add(configMap("a", "2"))
		synctest.Wait()
		r.stop()
		wantRefused("after its end")
	})
}

// The reflector resumes a watch that ends, from its last version. The store stays as it is, and
// nothing is delivered twice.
func TestAWatchThatEndsIsResumed(t *testing.T) {
	forEach(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"))
		handler := r.recorder(t)
		r.run(t)
		w := r.server.NextWatch()
		w.Add(configMap("b", "2"))
		w.Stop()
		r.server.NextWatch().Add(configMap("c", "3"))
		handler.Want(t, "OnAdd a 1 first", "OnAdd b 2", "OnAdd c 3")
		if lists := r.server.Lists(); lists != 1 {
			t.Errorf("Lists() = %d, want 1", lists)
		}
	})
}

// While lists fail, the store keeps its objects.
func TestTheStoreIsKeptWhileListsFail(t *testing.T) {
	forEach(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"))
		must.NoError(t, r.SetWatchErrorHandler(func(*cache.Reflector, error) {}))
		handler := r.recorder(t)
		r.run(t)
		w := r.server.NextWatch()
		r.server.Fail(errNotToday)
		w.Stop() // a watch that ends at once, without an event, is not resumed
		time.Sleep(time.Hour)
		if got, want := keys(r.GetStore()), []string{"ns/a"}; !slices.Equal(got, want) {
			t.Errorf("ListKeys() = %q, want %q", got, want)
		}
		if lists := r.server.Lists(); lists < 10 {
			t.Errorf("Lists() = %d in an hour, want at least 10", lists)
		}
		handler.Want(t, "OnAdd a 1 first")
		r.server.Set(configMap("b", "2"))
		time.Sleep(time.Minute)
		handler.Want(t, "OnDelete tombstone ns/a of 1", "OnAdd b 2")
	})
}
