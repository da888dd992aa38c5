// Symptoms in memory: a slow handler, and a relist.

package fieldguide

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/record"
)

func TestASlowHandler(t *testing.T) {
	log := captureKlog(t, 2)
	synctest.Test(t, func(t *testing.T) {
		server := fakeapi.New()
		slow := cache.ResourceEventHandlerFuncs{AddFunc: func(any) { time.Sleep(time.Second) }}
		handle(t, newConfigMaps(server, 0), slow)
		w := server.NextWatch()
		for i := range 1100 {
			w.Add(fakeapi.ConfigMap(fmt.Sprint(i), "1"))
		}
		log.want(t, `I… trace.go:…] Trace[…]: "processorListener handler" handler:…,pendingNotifications:… (…) `+
			`(total time: …ms):`)
	})
}

// During a relist, the new list is in memory together with the old objects of the store. The
// objects of a streamed list are transformed when they arrive, so only the transformed objects are
// in memory.
func TestARelistIsBesideTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		end := fakeapi.ConfigMap("", "9")
		end.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
		server := fakeapi.New()
		informer := newConfigMaps(server.ListWatch, 0) // a ListWatch that may be asked to stream
		var calls record.Lines
		must.NoError(t, informer.SetTransform(func(obj any) (any, error) {
			calls.Add("%s beside %d stored", obj.(*corev1.ConfigMap).ResourceVersion, len(informer.GetStore().List()))
			return obj, nil
		}))
		must.Run(t, informer.RunWithContext)
		w := server.NextWatch()
		w.Add(fakeapi.ConfigMap("a", "1"))
		w.Action(watch.Bookmark, end)
		fakeapi.Expire(w)
		w = server.NextWatch()
		calls.Want(t, "1 beside 0 stored", "1 beside 0 stored")
		w.Add(fakeapi.ConfigMap("a", "2"))
		calls.Want(t, "2 beside 1 stored") // before the end of the stream
		w.Action(watch.Bookmark, end)
		calls.Want(t, "2 beside 1 stored")
	})
}
