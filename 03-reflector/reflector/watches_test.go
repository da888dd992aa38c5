// One watch after the other: from which version each begins, and what is observed of it.

package reflector

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/record"
)

// A bookmark has a version, even in a watch without one. From then on watches begin at a version,
// and what they add has versions that count. Before it, an event of an unknown type changes nothing.
func TestAWatchFromABookmarkIsResumedFromItsLastEvent(t *testing.T) {
	testBoth(t, func(t *testing.T, _ string, run runFunc) {
		for _, version := range []string{"", "0"} {
			var asked []string
			list := func(metav1.ListOptions) (runtime.Object, error) {
				return &corev1.ConfigMapList{ListMeta: metav1.ListMeta{ResourceVersion: version}}, nil
			}
			runFor(t, 210*time.Second, run, plainListWatch(list, func(o metav1.ListOptions) (watch.Interface, error) {
				asked = append(asked, o.ResourceVersion)
				w := watch.NewFakeWithChanSize(1, false)
				switch len(asked) {
				case 1:
					w.Action("STRANGE", fakeapi.ConfigMap("a", "6"))
				case 2:
					w.Action(watch.Bookmark, fakeapi.ConfigMap("", "7"))
				case 3:
					w.Add(fakeapi.ConfigMap("a", "8"))
				}
				time.AfterFunc(time.Minute, w.Stop)
				return w, nil
			}), newStore())
			if want := []string{version, version, "7", "8"}; !slices.Equal(asked, want) {
				t.Errorf("watches from %q, want %q: the list's version, twice, the bookmark's, the event's",
					asked, want)
			}
		}
	})
}

// Each watch is observed before its request, and its end before the pause. The end of the context
// ends the request of a watch that the server does not answer.
func TestEachWatchIsObserved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen record.Lines
		requests := 0
		lw := listWatch(emptyList, nil)
		lw.WatchFuncWithContext = func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			seen.Add("WATCH from %s", o.ResourceVersion)
			switch requests++; requests {
			case 1:
				return nil, errRefused
			case 2:
				w := watch.NewFakeWithChanSize(1, false)
				w.Add(fakeapi.ConfigMap("a", "7"))
				w.Stop()
				return w, nil
			}
			select {
			case <-ctx.Done():
			case <-time.After(time.Hour):
				t.Error("the request of a watch goes on when the context has ended")
			}
			return nil, errors.New("no answer")
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		New(Options{
			ListerWatcher: cache.ToListWatcherWithWatchListSemantics(lw, noStreams{}),
			Store:         newStore(),
			Observer:      recordTo(&seen),
		}).Run(ctx)
		want := []string{
			"listing 0", "listed 1",
			"watching 1", "WATCH from 1", "ended: " + errRefused.Error(), "backing off",
			"watching 1", "WATCH from 1", "event 7", "ended ",
			"watching 7", "WATCH from 7",
		}
		if diff := cmp.Diff(want, seen.Take()); diff != "" {
			t.Errorf("observed events, and the requests of watches (-want +got):\n%s", diff)
		}
	})
}

// A list would bring the same object.
func TestAnEventThatIsLeftOutLeadsToNoList(t *testing.T) {
	for name, run := range reflectors(&corev1.ConfigMap{}) {
		synctest.Test(t, func(t *testing.T) {
			before := utilruntime.ErrorHandlers
			defer func() { utilruntime.ErrorHandlers = before }()
			var reported []string
			utilruntime.ErrorHandlers = []utilruntime.ErrorHandler{
				func(_ context.Context, _ error, text string, _ ...any) { reported = append(reported, text) },
			}
			w := streamedList("1", configMap("a"))
			w.Modify(nil)
			w.Add(&corev1.Pod{})
			w.Delete(configMap("a")) // the store refuses it
			w.Add(configMap("b"))
			lists, store := 0, newStore()
			runFor(t, time.Minute, run, streamingListWatch(func() watch.Interface {
				lists++
				return w
			}), pickyStore{store})
			const wrongType = "Unexpected watch event object type"
			want := []string{wrongType, wrongType, "Unable to delete watch event object from store"}
			if !slices.Equal(reported, want) {
				t.Errorf("%s: reported %q, want %q", name, reported, want)
			}
			if got, want := sortedKeys(store), []string{"ns/a", "ns/b"}; !slices.Equal(got, want) {
				t.Errorf("%s: stored %q, want %q", name, got, want)
			}
			if lists != 1 {
				t.Errorf("%s: %d lists, want 1", name, lists)
			}
		})
	}
}
