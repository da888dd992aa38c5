// What the pages say of rights, and of fake clientsets.

package main

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/retry"
	"k8s.io/client-go/util/watchlist"
	"k8s.io/klog/v2"

	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/08-factory/controller/notices"
	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/session/sessiontest"
)

func TestRightsInANamespaceAreNotEnoughForTheCluster(t *testing.T) {
	s := sessiontest.Open(t)
	sessiontest.Kubectl(t, s, "create role reader --verb=list,watch --resource=configmaps")
	sessiontest.Kubectl(t, s, "create rolebinding reader --role=reader --serviceaccount="+s.Namespace+":default")
	config := rest.CopyConfig(s.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:" + s.Namespace + ":default"}
	client, err := kubernetes.NewForConfig(config)
	must.Do(t, err)
	must.Until(t, "the role counts: the API server watches roles, as an informer does", func() bool {
		_, err := client.CoreV1().ConfigMaps(s.Namespace).List(t.Context(), metav1.ListOptions{})
		return err == nil
	})
	if _, err = client.CoreV1().ConfigMaps("").List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("a list of the whole cluster: %v, want 403", err)
	}
}

// A test that writes only after this channel is closed loses nothing.
func TestAWatchReactorTellsWhenTheWatchIsThere(t *testing.T) {
	client := fake.NewClientset(secret("before"))
	watching := make(chan struct{})
	var once sync.Once
	client.PrependWatchReactor("secrets", func(action clienttesting.Action) (bool, watch.Interface, error) {
		w, err := client.Tracker().Watch(action.GetResource(), action.GetNamespace())
		once.Do(func() { close(watching) })
		return true, w, err
	})
	factory := informers.NewSharedInformerFactory(client, 0)
	t.Cleanup(factory.Shutdown)
	gone := make(chan struct{})
	_, err := factory.Core().V1().Secrets().Informer().AddEventHandler(
		cache.ResourceEventHandlerFuncs{DeleteFunc: func(any) { close(gone) }})
	must.Do(t, err)
	factory.Start(t.Context().Done())
	factory.WaitForCacheSync(t.Context().Done())
	<-watching // WaitForCacheSync is not enough: it is about the list
	must.Do(t, client.CoreV1().Secrets("ns").Delete(t.Context(), "before", metav1.DeleteOptions{}))
	<-gone
}

func TestAReactorAnswersWithAConflict(t *testing.T) {
	client := fake.NewClientset(secret("a"))
	old := secret("a")
	old.ResourceVersion = "1"
	for range 2 { // the second one has a version that is no longer the newest
		_, err := client.CoreV1().Secrets("ns").Update(t.Context(), old.DeepCopy(), metav1.UpdateOptions{})
		must.Do(t, err)
	}

	conflicts := 1
	client.PrependReactor("update", "secrets", func(clienttesting.Action) (bool, runtime.Object, error) {
		if conflicts--; conflicts < 0 {
			return false, nil, nil // the next reactor: the object tracker
		}
		return true, nil, apierrors.NewConflict(corev1.Resource("secrets"), "a", errors.New("somebody was faster"))
	})
	tries := 0
	must.Do(t, retry.RetryOnConflict(retry.DefaultRetry, func() error {
		tries++
		_, err := client.CoreV1().Secrets("ns").Update(t.Context(), old, metav1.UpdateOptions{})
		return err
	}))
	expect.That(t, tries == 2, "%d tries, want 2", tries)
}

func TestAFakeIgnoresFinalizers(t *testing.T) {
	kept := secret("a")
	kept.Finalizers = []string{"example.com/keep"}
	client := fake.NewClientset(kept)
	must.Do(t, client.CoreV1().Secrets("ns").Delete(t.Context(), "a", metav1.DeleteOptions{}))
	_, err := client.CoreV1().Secrets("ns").Get(t.Context(), "a", metav1.GetOptions{})
	expect.That(t, apierrors.IsNotFound(err), "got %v, want that it is gone", err)
}

// An informer that asked a fake for a stream would wait for its end for ever.
func TestAFakeSaysThatItCannotStream(t *testing.T) {
	for _, client := range []any{fake.NewClientset(), dynamicfake.NewSimpleDynamicClient(runtime.NewScheme())} {
		expect.That(t, watchlist.DoesClientNotSupportWatchListSemantics(client), "%T can stream", client)
	}
}

// It shows what was put in, unless the store has a newer version, and for five minutes.
func TestAMutationCacheShowsTheNewerOfTwo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := cache.NewStore(cache.MetaNamespaceKeyFunc)
		both := cache.NewIntegerResourceVersionMutationCacheWithOptions(klog.Background(), store,
			cache.MutationCacheOptions{})
		version := func(n string) *corev1.Secret {
			s := secret("a")
			s.ResourceVersion = n
			return s
		}
		want := func(n string) {
			t.Helper()
			got, _, err := both.GetByKey("ns/a")
			must.Do(t, err)
			expect.That(t, got.(*corev1.Secret).ResourceVersion == n, "got %v, want version %s", got, n)
		}
		must.Do(t, store.Add(version("8")))
		both.Mutation(version("10"))
		want("10")
		time.Sleep(5*time.Minute + time.Second)
		want("8")
		both.Mutation(version("10"))
		must.Do(t, store.Update(version("11")))
		want("11")
	})
}

func secret(name string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}}
}

// forBoth runs a test with client-go's informers, and with ours.
func forBoth(t *testing.T, test func(t *testing.T, newInformer notices.NewInformer)) {
	t.Run("client-go's", func(t *testing.T) { test(t, cache.NewSharedIndexInformerWithOptions) })
	t.Run("ours", func(t *testing.T) {
		test(t, func(lw cache.ListerWatcher, example runtime.Object,
			options cache.SharedIndexInformerOptions) cache.SharedIndexInformer {
			return informer.New(lw, example, options)
		})
	})
}
