// Symptoms in memory: a slow handler, and a relist.

package fieldguide

import (
	"fmt"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/fault"
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

// The first half of an answer has a whole object. Only if the list is streamed, the informer has this
// object before the second half arrives. The transform shows what it has.
func TestOnlyAListIsReadAsAWhole(t *testing.T) {
	const object = `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"ns"}}`
	for _, test := range []struct {
		streams     bool
		first, rest string // the two halves of the answer
		want        []string
	}{
		{
			streams: false,
			first:   `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[` + object,
			rest:    `]}`,
		},
		{streams: true, first: `{"type":"ADDED","object":` + object + `}`, want: []string{"a"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			body, answer := io.Pipe()
			client, err := kubernetes.NewForConfig(&rest.Config{Transport: fault.RoundTripper(
				func(request *http.Request) (*http.Response, error) {
					return fault.Respond(request, http.StatusOK, body), nil
				})})
			must.NoError(t, err)
			var lw cache.ListerWatcher = listWatch(client, "configmaps", "ns", func(*metav1.ListOptions) {})
			if !test.streams {
				lw = cache.ToListWatcherWithWatchListSemantics(lw.(*cache.ListWatch), fake.NewClientset())
			}
			informer := newConfigMaps(lw, 0)
			var transformed record.Lines
			must.NoError(t, informer.SetTransform(func(obj any) (any, error) {
				transformed.Add("%s", obj.(*corev1.ConfigMap).Name)
				return obj, nil
			}))
			stop := must.Run(t, informer.RunWithContext)
			_, err = io.WriteString(answer, test.first)
			must.NoError(t, err)
			transformed.Want(t, test.want...)
			if test.rest != "" {
				_, err = io.WriteString(answer, test.rest)
				must.NoError(t, err)
				must.NoError(t, answer.Close())
				transformed.Want(t, "a")
			}
			must.NoError(t, answer.Close())
			stop()
		})
	}
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
