// The requests of a reflector: when it sends them, and what it asks for.

package reflector

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// requesting runs a reflector for a time. The server streams no lists.
func requesting(t *testing.T, lasts time.Duration, run runFunc,
	list func(metav1.ListOptions) (runtime.Object, error), watches func(metav1.ListOptions) (watch.Interface, error)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	lw := cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(_ context.Context, o metav1.ListOptions) (runtime.Object, error) { return list(o) },
		WatchFuncWithContext: func(_ context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return watches(o)
		},
	}, noStreams{})
	go run(ctx, lw, cache.NewStore(cache.MetaNamespaceKeyFunc))
	time.Sleep(lasts)
	cancel()
	synctest.Wait()
}

// empty answers a LIST.
func empty(metav1.ListOptions) (runtime.Object, error) {
	return &corev1.ConfigMapList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}, nil
}

// A pause is twice as long as the last, up to half a minute, and longer by up to as
// much again. Every two minutes it begins anew, even if nothing has become better.
func TestPausesGrow(t *testing.T) {
	both(t, func(t *testing.T, _ string, run runFunc) {
		asked, anew, shortest := time.Time{}, time.Now(), defaultBackoffInit
		pauses, longest := 0, shortest
		requesting(t, time.Hour, run, empty, func(metav1.ListOptions) (watch.Interface, error) {
			if pause := time.Since(asked); !asked.IsZero() {
				if pause < shortest || pause > 2*shortest {
					t.Errorf("pause %d: %v, want %v to %v", pauses, pause, shortest, 2*shortest)
				}
				pauses++
				shortest = min(2*shortest, defaultBackoffMax)
			}
			if asked = time.Now(); asked.Sub(anew) > defaultBackoffReset {
				anew, shortest = asked, defaultBackoffInit
			}
			longest = max(longest, shortest)
			return nil, errRefused
		})
		if pauses < 60 || longest != defaultBackoffMax {
			t.Errorf("%d pauses of up to %v and as much again", pauses, longest)
		}
	})
}

// A watch is asked for with a timeout of five to ten minutes.
func TestTimeoutsOfWatches(t *testing.T) {
	both(t, func(t *testing.T, _ string, run runFunc) {
		timeouts := map[int64]bool{}
		requesting(t, time.Hour, run, empty, func(o metav1.ListOptions) (watch.Interface, error) {
			timeouts[*o.TimeoutSeconds] = true
			w := watch.NewFake()
			time.AfterFunc(time.Minute, w.Stop)
			return w, nil
		})
		for timeout := range timeouts {
			if timeout < 300 || timeout > 600 {
				t.Errorf("%d seconds", timeout)
			}
		}
		if len(timeouts) < 10 {
			t.Errorf("hardly random: %v", timeouts)
		}
	})
}

// When a page has expired, the list is asked for in one piece.
func TestAListWhosePagesExpireComesInOnePiece(t *testing.T) {
	both(t, func(t *testing.T, _ string, run runFunc) {
		var got []string
		requesting(t, time.Minute, run,
			func(o metav1.ListOptions) (runtime.Object, error) {
				got = append(got, fmt.Sprintf("LIST %q, limit %d, page %q", o.ResourceVersion, o.Limit, o.Continue))
				list := &corev1.ConfigMapList{ListMeta: metav1.ListMeta{ResourceVersion: "10"}}
				switch {
				case o.Continue == "" && o.ResourceVersion == "0":
					list.Continue = "second"
				case o.Continue == "" && o.Limit > 0:
					list.Continue = "expired"
				case o.Continue == "expired":
					return nil, apierrors.NewResourceExpired("too old")
				}
				return list, nil
			},
			func(o metav1.ListOptions) (watch.Interface, error) {
				got = append(got, fmt.Sprintf("WATCH %q", o.ResourceVersion))
				if len(got) < 4 {
					return nil, apierrors.NewResourceExpired("too old")
				}
				return watch.NewFake(), nil
			})
		want := []string{
			`LIST "0", limit 500, page ""`,
			`LIST "", limit 500, page "second"`,
			`WATCH "10"`,
			`LIST "10", limit 500, page ""`, // the server has no watch cache: pages again
			`LIST "", limit 500, page "expired"`,
			`LIST "10", limit 0, page ""`,
			`WATCH "10"`,
		}
		if !slices.Equal(got, want) {
			t.Errorf("got:\n%q\nwant:\n%q", got, want)
		}
	})
}

// A caller can recover from a panic of its own source, which is called on another
// goroutine.
func TestAPanicOfTheSourceReachesTheCaller(t *testing.T) {
	both(t, func(t *testing.T, name string, run runFunc) {
		lw := cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
			ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) { panic("no list") },
		}, noStreams{})
		defer func() {
			if got := recover(); got != "no list" {
				t.Errorf("%s: recovered %v", name, got)
			}
		}()
		run(t.Context(), lw, cache.NewStore(cache.MetaNamespaceKeyFunc))
		t.Errorf("%s has returned", name)
	})
}
