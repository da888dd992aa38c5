// Events that a program waits for in vain.

package fieldguide

import (
	"strings"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/session/sessiontest"
)

// The first watch ends after two seconds. The next one is from a version that is older
// than the type.
func TestTheVersionIsTooOld(t *testing.T) {
	log, s := captureKlog(t, 4), sessiontest.Open(t)
	sessiontest.Kubectl(t, s, "create -f parcels.yaml")
	sessiontest.Kubectl(t, s, "create -f parcel.yaml") // waits until they are served
	informer := runParcels(t, s, "v1", func(options *metav1.ListOptions) {
		options.TimeoutSeconds = new(int64(2))
		if options.AllowWatchBookmarks && options.SendInitialEvents == nil {
			options.ResourceVersion = "1"
		}
	})
	must.Until(t, "it has synced", informer.HasSynced)
	log.want(t, `I… reflector.go:…] "Watch closed" … err="too old resource version: 1 (…)"`)
}

// This is what the server says if the watch is etcd's, not the watch cache's.
func TestTheVersionIsTooOldForEtcd(t *testing.T) {
	status := apierrors.NewResourceExpired("The resourceVersion for the provided watch is too old.").Status()
	for _, verbosity := range []int{3, 4} {
		log := captureKlog(t, verbosity)
		synctest.Test(t, func(t *testing.T) {
			server := fakeapi.New()
			runInformer(t, server, &corev1.ConfigMap{})
			server.NextWatch().Error(&status)
			server.NextWatch()
			if verbosity == 4 {
				log.want(t, `I… reflector.go:…] "Watch closed" … err="`+status.Message+`"`)
			} else if strings.Contains(log.String(), "too old") || server.Lists() != 2 {
				t.Errorf("%d lists, and in the log: %s", server.Lists(), log)
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
	pods, err := listers.NewPodLister(indexer).Pods("ns").List(labels.Everything())
	must.Do(t, err)
	expect.That(t, len(pods) == 1, "%d pods, want 1", len(pods))
	log.want(t, `I… listers.go:…] "Warning: can not retrieve list of objects using index" `+
		`err="Index with name namespace does not exist"`)
}

// Each list replaces all that is stored, whoever has put it there.
func TestTwoReflectorsOfOneStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := cache.NewStore(cache.MetaNamespaceKeyFunc)
		for _, name := range []string{"a", "b"} {
			server := fakeapi.New(fakeapi.ConfigMap(name, "1"))
			must.Run(t, cache.NewReflector(server, &corev1.ConfigMap{}, store, 0).RunWithContext)
			server.NextWatch()
		}
		keys := store.ListKeys()
		expect.That(t, len(keys) == 1 && keys[0] == "ns/b", "%v are stored, want only what was listed last", keys)
	})
}

// The store has the key a, and a lister of a namespace asks for /a.
func TestAListerOfTheWrongScope(t *testing.T) {
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	must.Do(t, indexer.Add(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a"}}))
	lister := cache.NewGenericLister(indexer, corev1.Resource("pods"))
	_, err := lister.ByNamespace("").Get("a")
	expect.That(t, apierrors.IsNotFound(err), "error %v, want not found", err)
	pods, err := lister.List(labels.Everything())
	expect.That(t, err == nil && len(pods) == 1, "%d pods, error %v", len(pods), err)
}
