// Symptoms of missing events and missing objects.

package fieldguide

import (
	"slices"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/session/sessiontest"
)

// The first watch ends after two seconds. The next watch is from a version that is older than the
// resource.
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
	must.Until(t, "the informer has synced", informer.HasSynced)
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
			if got := server.Lists(); got != 2 {
				t.Errorf("-v=%d: the server got %d LISTs, want 2", verbosity, got)
			}
			if verbosity == 4 {
				log.want(t, `I… reflector.go:…] "Watch closed" … err="`+status.Message+`"`)
			} else {
				log.wantNo(t, "too old")
			}
		})
	}
}

func TestAnIndexOfAnotherName(t *testing.T) {
	log, indexer := captureKlog(t, 0), cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	must.NoError(t, indexer.Add(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a"}}))
	_, err := indexer.ByIndex("node", "node1")
	if want := "Index with name node does not exist"; err == nil || err.Error() != want {
		t.Errorf("ByIndex(node) = %v, want %s", err, want)
	}
	if keys, err := indexer.IndexKeys("node", "node1"); keys != nil || err == nil {
		t.Errorf("IndexKeys(node) = %q, %v; want nil and an error", keys, err)
	}
	pods, err := listers.NewPodLister(indexer).Pods("ns").List(labels.Everything())
	must.NoError(t, err)
	if len(pods) != 1 {
		t.Errorf("List() returned %d pods, want 1", len(pods))
	}
	log.want(t, `I… listers.go:…] "Warning: can not retrieve list of objects using index" `+
		`err="Index with name namespace does not exist"`)
}

// Each list replaces all objects of the store, even those of another reflector.
func TestTwoReflectorsOfOneStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := cache.NewStore(cache.MetaNamespaceKeyFunc)
		for _, name := range []string{"a", "b"} {
			server := fakeapi.New(fakeapi.ConfigMap(name, "1"))
			must.Run(t, cache.NewReflector(server, &corev1.ConfigMap{}, store, 0).RunWithContext)
			server.NextWatch()
		}
		if got, want := store.ListKeys(), []string{"ns/b"}; !slices.Equal(got, want) {
			t.Errorf("the store has the keys %q, want those of the last list, %q", got, want)
		}
	})
}

// The store has an object with the key a. A generic lister for the namespace "" asks for the key /a,
// and a generated lister for a.
func TestAListerOfTheWrongScope(t *testing.T) {
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	must.NoError(t, indexer.Add(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a"}}))
	lister := cache.NewGenericLister(indexer, corev1.Resource("pods"))
	if obj, err := lister.ByNamespace("").Get("a"); !apierrors.IsNotFound(err) {
		t.Errorf("ByNamespace(\"\").Get(a) = %v, %v; want a NotFound error", obj, err)
	}
	if _, err := listers.NewPodLister(indexer).Pods("").Get("a"); err != nil {
		t.Errorf("Pods(\"\").Get(a) of a generated lister: %v, want no error", err)
	}
	pods, err := lister.List(labels.Everything())
	if err != nil || len(pods) != 1 {
		t.Errorf("List() returned %d pods, error %v; want 1, nil", len(pods), err)
	}
}
