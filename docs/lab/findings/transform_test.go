// Findings about transforms.

package findings

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
)

// stream returns a watch that begins with a list of the ConfigMaps a and b, as a real server sends
// it.
func stream(context.Context, metav1.ListOptions) (watch.Interface, error) {
	w, end := watch.NewFakeWithChanSize(3, false), fakeapi.ConfigMap("", "1")
	end.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
	w.Add(fakeapi.ConfigMap("a", "1"))
	w.Add(fakeapi.ConfigMap("b", "1"))
	w.Action(watch.Bookmark, end)
	return w, nil
}

// A result is the state of an informer after an hour.
type result struct {
	synced   bool // whether it has synced
	reported bool // whether it has reported an error
	storesA  bool // whether the ConfigMap a is in the store
	storesB  bool
}

// results runs two informers with a transform. One gets the list as a stream. The other one gets it
// as the answer to a LIST, as from a fake clientset, or from a server that cannot stream.
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
		must.NoError(t, in.SetTransform(transform))
		stop := must.Run(t, in.RunWithContext)
		time.Sleep(time.Hour)
		stop()
		keys := in.GetStore().ListKeys()
		got[name] = result{
			synced:   in.HasSynced(),
			reported: errs.Load() > 0,
			storesA:  slices.Contains(keys, "ns/a"),
			storesB:  slices.Contains(keys, "ns/b"),
		}
		utilruntime.ErrorHandlers = nil
	}
	return got
}

// isB reports whether an object is the ConfigMap b.
func isB(obj any) bool {
	configMap, ok := obj.(*corev1.ConfigMap)
	return ok && configMap.Name == "b"
}

func TestATransformIsCalledTwiceForAnObjectOfAStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		results(t, func(obj any) (any, error) {
			calls++
			return obj, nil
		})
		const streamed, listed = 2 * 2, 2 // two objects each
		if calls != streamed+listed {
			fixed(t, "the transform is called %d times for two streamed and two listed objects, not %d times",
				calls, streamed+listed)
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
		want := map[string]result{"streamed": {synced: true}, "listed": {synced: true}}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(result{})); diff != "" {
			fixed(t, "the results differ (-before +now):\n%s", diff)
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
		want := map[string]result{
			"streamed": {synced: true, reported: true, storesA: true},
			"listed":   {reported: true},
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(result{})); diff != "" {
			fixed(t, "the results differ (-before +now):\n%s", diff)
		}
	})
}
