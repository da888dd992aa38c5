// Lists and watches that fail, and the watch error handler.

package informer_test

import (
	"context"
	"errors"
	"strings"
	"testing"
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

func TestTheHandlerWithAContextHasToBeSetBeforeTheStart(t *testing.T) {
	forEach(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options())
		r.run(t)
		err := r.SetWatchErrorHandlerWithContext(func(context.Context, *cache.Reflector, error) {})
		if err == nil || !strings.Contains(err.Error(), "started") {
			t.Errorf("SetWatchErrorHandlerWithContext() = %v, want an error that contains %q", err, "started")
		}
	})
}
