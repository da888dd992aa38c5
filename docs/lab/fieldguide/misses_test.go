// Events that a program waits for in vain.

package fieldguide

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/session/sessiontest"
)

// The first watch ends after a second. The next one is from a version that is older
// than the type.
func TestTheVersionIsTooOld(t *testing.T) {
	log, s := captureKlog(t, 4), sessiontest.Open(t)
	sessiontest.Kubectl(t, s, "create -f parcels.yaml")
	sessiontest.Kubectl(t, s, "create -f parcel.yaml") // waits until they are served
	informer := runParcels(t, s, "v1", func(options *metav1.ListOptions) {
		options.TimeoutSeconds = new(int64(1))
		if options.AllowWatchBookmarks && options.SendInitialEvents == nil {
			options.ResourceVersion = "1"
		}
	})
	must.Until(t, "it has synced", informer.HasSynced)
	log.want(t, `I… reflector.go:…] "Watch closed" … err="too old resource version: 1 (…)"`)
}

// This is what a watch is told that comes from etcd, not from the watch cache.
func TestTheVersionIsTooOldForEtcd(t *testing.T) {
	for verbosity := range 5 {
		log := captureKlog(t, verbosity)
		synctest.Test(t, func(t *testing.T) {
			server := fakeapi.New()
			runInformer(t, server, &corev1.ConfigMap{})
			server.NextWatch().Error(&metav1.Status{
				Status: metav1.StatusFailure, Code: http.StatusGone, Reason: metav1.StatusReasonExpired,
				Message: "The resourceVersion for the provided watch is too old.",
			})
			server.NextWatch()
			if got := strings.Contains(log.String(), "too old"); got != (verbosity == 4) {
				t.Errorf("-v=%d: %s", verbosity, log)
			} else if got {
				log.want(t, `I… reflector.go:…] "Watch closed" … err="The resourceVersion for the provided watch is too old."`)
			}
			if server.Lists() != 2 {
				t.Errorf("%d lists, want 2", server.Lists())
			}
		})
	}
}

func TestAnIndexOfAnotherName(t *testing.T) {
	log, indexer := captureKlog(t, 0), cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	must.Do(t, indexer.Add(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a"}}))
	if _, err := indexer.ByIndex("node", "node1"); err == nil || err.Error() != "Index with name node does not exist" {
		t.Errorf("error %v", err)
	}
	pods, err := v1.NewPodLister(indexer).Pods("ns").List(labels.Everything())
	if must.Do(t, err); len(pods) != 1 {
		t.Errorf("%d pods, want 1", len(pods))
	}
	log.want(t, `I… listers.go:…] "Warning: can not retrieve list of objects using index" `+
		`err="Index with name namespace does not exist"`)
}
