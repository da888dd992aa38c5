// What the pages docs/08-factory*.md say about client-go, shown on the pinned
// version.

package main

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/requests"
	"example.com/informer/scripts/harness/session/sessiontest"
)

func TestClientGosFactoryGivesOneStorePerType(t *testing.T) {
	f := informers.NewSharedInformerFactory(fake.NewClientset(), 0)
	generic, err := f.ForResource(corev1.SchemeGroupVersion.WithResource("pods"))
	must.Do(t, err)
	pods := f.Core().V1().Pods().Informer()
	if pods.GetStore() != f.Core().V1().Pods().Informer().GetStore() ||
		pods.GetStore() != generic.Informer().GetStore() {
		t.Error("there is more than one store of pods")
	}
	expect.That(t, pods != f.Core().V1().Pods().Informer(), "it is not wrapped anew")
}

// Nobody says so: it is not started, and so it is not waited for.
func TestWhatIsAskedForAfterStartIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := informers.NewSharedInformerFactory(fake.NewClientset(), 0)
		ctx, cancel := context.WithCancel(t.Context())
		defer func() { cancel(); f.Shutdown() }()
		f.StartWithContext(ctx)
		pods := f.Core().V1().Pods().Informer()
		result := f.WaitForCacheSyncWithContext(ctx)
		expect.That(t, result.Err == nil && len(result.Synced) == 0, "got %v", result)
		time.Sleep(time.Hour) // it is fake
		expect.That(t, !pods.HasSynced(), "it has synced")
		f.StartWithContext(ctx)
		f.WaitForCacheSyncWithContext(ctx)
		expect.That(t, pods.HasSynced(), "it has not synced")
	})
}

func TestClientGosShutdownWaitsForYourContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := informers.NewSharedInformerFactory(fake.NewClientset(), 0)
		f.Core().V1().Pods().Informer()
		ctx, cancel := context.WithCancel(t.Context())
		f.StartWithContext(ctx)
		ended := make(chan struct{})
		go func() { defer close(ended); f.Shutdown() }()
		select {
		case <-ended:
			t.Error("Shutdown has returned")
		case <-time.After(24 * time.Hour):
		}
		cancel()
		<-ended
		secrets := f.Core().V1().Secrets().Informer()
		f.StartWithContext(t.Context())
		f.Shutdown() // returns: nothing was started
		expect.That(t, !secrets.HasSynced(), "it starts after Shutdown")
	})
}

// A lister makes the informer. It does not wait for the sync, and does not say that there was
// none. What it returns is the store's own.
func TestAListerBeforeAndAfterTheSync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := informers.NewSharedInformerFactory(fake.NewClientset(&corev1.ConfigMap{ObjectMeta: object("a")}), 0)
		lister := f.Core().V1().ConfigMaps().Lister()
		all, err := lister.List(labels.Everything())
		_, missing := lister.ConfigMaps("ns").Get("a")
		expect.That(t, len(all) == 0 && err == nil && apierrors.IsNotFound(missing),
			"before: %d in the list, error %v; and %v", len(all), err, missing)
		ctx, cancel := context.WithCancel(t.Context())
		defer func() { cancel(); f.Shutdown() }()
		f.StartWithContext(ctx)
		synced := f.WaitForCacheSync(ctx.Done())
		expect.That(t, len(synced) == 1 && synced[reflect.TypeFor[*corev1.ConfigMap]()], "got %v", synced)
		found, err := lister.ConfigMaps("ns").Get("a")
		must.Do(t, err)
		stored := f.Core().V1().ConfigMaps().Informer().GetStore().List()[0]
		expect.That(t, found == stored, "it returns a copy")
	})
}

// It cannot be dropped, and it does not run again.
func TestClientGosFactoryKeepsAStoppedInformer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset(&corev1.ConfigMap{ObjectMeta: object("a")})
		f := informers.NewSharedInformerFactory(client, 0)
		store := f.Core().V1().ConfigMaps().Informer().GetStore()
		ctx, cancel := context.WithCancel(t.Context())
		f.StartWithContext(ctx)
		f.WaitForCacheSyncWithContext(ctx)
		cancel()
		synctest.Wait()
		again := f.Core().V1().ConfigMaps().Informer()
		f.StartWithContext(t.Context())
		synctest.Wait()
		expect.That(t, again.GetStore() == store && again.IsStopped() && len(store.ListKeys()) == 1,
			"the same: %t, stopped: %t, holds %q", again.GetStore() == store, again.IsStopped(), store.ListKeys())
	})
	methods := reflect.TypeFor[informers.SharedInformerFactory]()
	for i := range methods.NumMethod() {
		for _, word := range []string{"Forget", "Remove", "Delete", "Stop", "Drop"} {
			name := methods.Method(i).Name
			expect.That(t, !strings.Contains(name, word), "there is a method %s", name)
		}
	}
}

func TestClientGosFactoryKnowsNoCustomResource(t *testing.T) {
	f := informers.NewSharedInformerFactory(fake.NewClientset(), 0)
	_, err := f.ForResource(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"})
	expect.That(t, err != nil && strings.Contains(err.Error(), "no informer found for"), "got %v", err)
}

// The factory of typed objects and that of untyped ones do not know each other.
// It goes by the Go type alone, which is the same for both.
func TestClientGosFactoryHasOneInformerForAllThatIsUnstructured(t *testing.T) {
	f := informers.NewSharedInformerFactory(fake.NewClientset(), 0)
	ask := func(kind string) cache.SharedIndexInformer {
		obj := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": kind}}
		return f.InformerFor(obj, func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer {
			return cache.NewSharedIndexInformerWithOptions(fakeapi.New(), obj, cache.SharedIndexInformerOptions{})
		})
	}
	expect.That(t, ask("Pod") == ask("Node"), "there are two informers")
}

// A pointer that is nil: to call it is to panic.
func TestAFakeClientsetHasNoRESTClient(t *testing.T) {
	client := fake.NewClientset().CoreV1().RESTClient()
	expect.That(t, reflect.ValueOf(client).IsNil(), "it is %v", client)
}

// inTwoFactories caches the ConfigMaps of a namespace in two factories of
// client-go's: as objects with their type, and as maps.
func inTwoFactories(t *testing.T, config *rest.Config, namespace string) (objects, maps cache.Store) {
	t.Helper()
	clientset, err := kubernetes.NewForConfig(config)
	must.Do(t, err)
	dynamicClient, err := dynamic.NewForConfig(config)
	must.Do(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	typed := informers.NewSharedInformerFactoryWithOptions(clientset, 0, informers.WithNamespace(namespace))
	untyped := dynamicinformer.NewFilteredDynamicSharedInformerFactory(dynamicClient, 0, namespace, nil)
	t.Cleanup(func() { cancel(); typed.Shutdown(); untyped.Shutdown() })
	objects = typed.Core().V1().ConfigMaps().Informer().GetStore()
	maps = untyped.ForResource(corev1.SchemeGroupVersion.WithResource("configmaps")).Informer().GetStore()
	typed.StartWithContext(ctx)
	untyped.Start(ctx.Done())
	must.Do(t, typed.WaitForCacheSyncWithContext(ctx).AsError())
	untyped.WaitForCacheSync(ctx.Done())
	return objects, maps
}

func TestTwoFactoriesOfClientGosListTwice(t *testing.T) {
	s := sessiontest.Open(t)
	var asked requests.Counter
	config := rest.CopyConfig(s.Config)
	asked.Count(config)
	inTwoFactories(t, config, s.Namespace)
	expect.That(t, asked.Lists() == 2, "%d lists, want 2", asked.Lists())
}

// By a LIST, and by the stream that informers ask for.
func TestTypedObjectsComeWithoutTheirKind(t *testing.T) {
	s := sessiontest.Open(t) // with one ConfigMap, the cluster's own
	list, err := s.Client.CoreV1().ConfigMaps(s.Namespace).List(t.Context(), metav1.ListOptions{})
	must.Do(t, err)
	kind := list.Items[0].Kind
	expect.That(t, kind == "", "in a list it is a %q", kind)
	objects, maps := inTwoFactories(t, s.Config, s.Namespace)
	kind = objects.List()[0].(*corev1.ConfigMap).Kind
	expect.That(t, kind == "", "in an informer's store it is a %q", kind)
	kind = maps.List()[0].(*unstructured.Unstructured).GetKind()
	expect.That(t, kind == "ConfigMap", "as a map it is a %q", kind)
}

// The factory that is passed around makes its list with the client of no
// group: the path lacks /api/v1.
func TestTheOldFactoryAsksWhereNothingIs(t *testing.T) {
	s := sessiontest.Open(t)
	client := s.Client.(*kubernetes.Clientset).RESTClient()
	path := client.Get().Resource("pods").URL().Path
	expect.That(t, path == "/pods", "it asks at %s", path)
	pods := cache.NewListWatchFromClient(client, "pods", s.Namespace, fields.Everything())
	_, err := pods.ListWithContext(t.Context(), metav1.ListOptions{})
	expect.That(t, apierrors.IsNotFound(err), "got %v, want that it is not found", err)
}

func TestClientGosResultNamesTheTypes(t *testing.T) {
	f := informers.NewSharedInformerFactory(fake.NewClientset(), 0)
	f.Core().V1().Pods().Informer()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("no more patience"))
	f.StartWithContext(ctx)
	f.Shutdown()
	err := f.WaitForCacheSyncWithContext(ctx).AsError()
	want := "failed to sync all caches: *v1.Pod: no more patience"
	expect.That(t, err != nil && err.Error() == want, "got %v, want %s", err, want)
}
