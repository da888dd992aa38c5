// Findings about transforms.

package findings

import (
	"context"
	"errors"
	"maps"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
)

// stream is a list of ConfigMaps a and b as a real server gives it.
func stream(context.Context, metav1.ListOptions) (watch.Interface, error) {
	w, end := watch.NewFakeWithChanSize(3, false), fakeapi.ConfigMap("", "1")
	end.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
	w.Add(fakeapi.ConfigMap("a", "1"))
	w.Add(fakeapi.ConfigMap("b", "1"))
	w.Action(watch.Bookmark, end)
	return w, nil
}

// A result is what becomes of two objects in an hour.
type result struct{ synced, reported, storesA, storesB bool }

// results runs informers with a transform. One gets the list as a stream, the other as
// the answer to a LIST, as from a fake clientset or from a server that cannot stream.
func results(t *testing.T, transform cache.TransformFunc) map[string]result {
	t.Helper()
	got, server := map[string]result{}, fakeapi.New(fakeapi.ConfigMap("a", "1"), fakeapi.ConfigMap("b", "1"))
	for name, lw := range map[string]cache.ListerWatcher{
		"streamed": &cache.ListWatch{ListWithContextFunc: server.ListWithContextFunc, WatchFuncWithContext: stream},
		"listed":   server,
	} {
		var errs atomic.Int32
		utilruntime.ErrorHandlers = []utilruntime.ErrorHandler{
			func(context.Context, error, string, ...any) { errs.Add(1) },
		}
		in := cache.NewSharedIndexInformerWithOptions(lw, &corev1.ConfigMap{}, cache.SharedIndexInformerOptions{})
		must.Do(t, in.SetTransform(transform))
		stop := must.Run(t, in.RunWithContext)
		time.Sleep(time.Hour)
		stop()
		_, a, _ := in.GetStore().GetByKey("ns/a")
		_, b, _ := in.GetStore().GetByKey("ns/b")
		got[name] = result{synced: in.HasSynced(), reported: errs.Load() > 0, storesA: a, storesB: b}
		utilruntime.ErrorHandlers = nil
	}
	return got
}

func isB(obj any) bool { got, ok := obj.(*corev1.ConfigMap); return ok && got.Name == "b" }

func TestATransformIsCalledTwiceForAnObjectOfAStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		results(t, func(obj any) (any, error) { calls++; return obj, nil })
		if calls != 4+2 {
			mended(t, "it is called %d times for two objects, streamed and listed", calls)
		}
	})
}

func TestATransformThatGivesNilDropsTheWholeListSilently(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := results(t, func(obj any) (any, error) {
			if isB(obj) {
				return nil, nil
			}
			return obj, nil
		})
		if !maps.Equal(got, map[string]result{"streamed": {synced: true}, "listed": {synced: true}}) {
			mended(t, "the results are %+v", got)
		}
	})
}

func TestWhatATransformRefusesDependsOnHowTheListCame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := results(t, func(obj any) (any, error) {
			if isB(obj) {
				return nil, errors.New("no")
			}
			return obj, nil
		})
		if !maps.Equal(got, map[string]result{
			"streamed": {synced: true, reported: true, storesA: true}, "listed": {reported: true},
		}) {
			mended(t, "the results are %+v", got)
		}
	})
}
