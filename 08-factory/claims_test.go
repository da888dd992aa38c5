// Claims of the pages docs/08-factory*.md about client-go, tested on the version in go.mod.

package main

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"
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

	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/fault"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/session/sessiontest"
)

func TestClientGosFactoryGivesOneStorePerType(t *testing.T) {
	f := informers.NewSharedInformerFactory(fake.NewClientset(), 0)
	first, second := f.Core().V1().Pods().Informer(), f.Core().V1().Pods().Informer()
	if first.GetStore() != second.GetStore() {
		t.Error("two calls of Core().V1().Pods() return informers with different stores, want one store")
	}
	generic, err := f.ForResource(corev1.SchemeGroupVersion.WithResource("pods"))
	must.NoError(t, err)
	if first.GetStore() != generic.Informer().GetStore() {
		t.Error("ForResource(pods) and Core().V1().Pods() return informers with different stores, want one store")
	}
	if first == second {
		t.Error("two calls of Core().V1().Pods() return the same informer, want a new wrapper for each call")
	}
}

// The informer is not started, and WaitForCacheSync does not wait for it. There is no error.
func TestWhatIsAskedForAfterStartIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := informers.NewSharedInformerFactory(fake.NewClientset(), 0)
		ctx, cancel := context.WithCancel(t.Context())
		defer f.Shutdown()
		defer cancel()
		f.StartWithContext(ctx)
		pods := f.Core().V1().Pods().Informer()
		result := f.WaitForCacheSyncWithContext(ctx)
		if result.Err != nil || len(result.Synced) != 0 {
			t.Errorf("WaitForCacheSyncWithContext() = %v, %v; want no types, nil", result.Synced, result.Err)
		}
		time.Sleep(time.Hour) // of the bubble's time
		if pods.HasSynced() {
			t.Error("the informer has synced before the second Start")
		}
		f.StartWithContext(ctx)
		f.WaitForCacheSyncWithContext(ctx)
		if !pods.HasSynced() {
			t.Error("the informer has not synced after the second Start")
		}
	})
}

// Each informer ends with the context of the Start that has started it.
func TestASecondStartHasAContextOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := informers.NewSharedInformerFactory(fake.NewClientset(), 0)
		defer f.Shutdown()
		first, cancelFirst := context.WithCancel(t.Context())
		second, cancelSecond := context.WithCancel(t.Context())
		wantStopped := func(pods, secrets bool) {
			t.Helper()
			synctest.Wait()
			gotPods := f.Core().V1().Pods().Informer().IsStopped()
			gotSecrets := f.Core().V1().Secrets().Informer().IsStopped()
			if gotPods != pods || gotSecrets != secrets {
				t.Errorf("stopped: pods %t, secrets %t; want %t, %t", gotPods, gotSecrets, pods, secrets)
			}
		}
		f.Core().V1().Pods().Informer()
		f.StartWithContext(first)
		f.Core().V1().Secrets().Informer()
		f.StartWithContext(second)
		wantStopped(false, false)
		cancelFirst()
		wantStopped(true, false)
		cancelSecond()
		wantStopped(true, true)
	})
}

func TestClientGosShutdownWaitsForYourContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := informers.NewSharedInformerFactory(fake.NewClientset(), 0)
		f.Core().V1().Pods().Informer()
		ctx, cancel := context.WithCancel(t.Context())
		f.StartWithContext(ctx)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			f.Shutdown()
		}()
		select {
		case <-ended:
			t.Error("Shutdown has returned before the context ended")
		case <-time.After(24 * time.Hour):
		}
		cancel()
		<-ended
		secrets := f.Core().V1().Secrets().Informer()
		f.StartWithContext(t.Context())
		f.Shutdown() // returns, because Start has started nothing
		if secrets.HasSynced() {
			t.Error("an informer has synced that was started after Shutdown")
		}
	})
}

// Two options WithNamespace are one namespace, and not two.
func TestTheLastNamespaceCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inNamespace := func(namespace string) *corev1.ConfigMap {
			return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "c"}}
		}
		client := fake.NewClientset(inNamespace("first"), inNamespace("last"))
		f := informers.NewSharedInformerFactoryWithOptions(client, 0,
			informers.WithNamespace("first"), informers.WithNamespace("last"))
		configMaps := f.Core().V1().ConfigMaps().Informer()
		ctx, cancel := context.WithCancel(t.Context())
		defer f.Shutdown()
		defer cancel()
		f.StartWithContext(ctx)
		f.WaitForCacheSync(ctx.Done())
		if got, want := configMaps.GetStore().ListKeys(), []string{"last/c"}; !slices.Equal(got, want) {
			t.Errorf("the store has %q, want %q", got, want)
		}
	})
}

// To ask for a lister makes the informer. A lister does not wait for the sync: before it, the
// lister finds nothing, and returns no error. After it, the lister returns the objects of the
// store, and not copies.
func TestAListerBeforeAndAfterTheSync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := informers.NewSharedInformerFactory(fake.NewClientset(&corev1.ConfigMap{ObjectMeta: object("a")}), 0)
		lister := f.Core().V1().ConfigMaps().Lister()
		if all, err := lister.List(labels.Everything()); len(all) != 0 || err != nil {
			t.Errorf("before the sync, List() = %v, %v; want nothing, nil", all, err)
		}
		if _, err := lister.ConfigMaps("ns").Get("a"); !apierrors.IsNotFound(err) {
			t.Errorf("before the sync, Get(a) = %v, want a NotFound error", err)
		}
		f.Core().V1().Pods() // makes no informer
		ctx, cancel := context.WithCancel(t.Context())
		defer f.Shutdown()
		defer cancel()
		f.StartWithContext(ctx)
		f.Core().V1().Secrets().Informer() // is not started
		want := map[reflect.Type]bool{reflect.TypeFor[*corev1.ConfigMap](): true}
		if synced := f.WaitForCacheSync(ctx.Done()); !maps.Equal(synced, want) {
			t.Errorf("WaitForCacheSync() = %v, want %v", synced, want)
		}
		found, err := lister.ConfigMaps("ns").Get("a")
		must.NoError(t, err)
		if stored := f.Core().V1().ConfigMaps().Informer().GetStore().List()[0]; found != stored {
			t.Error("after the sync, Get(a) returns a copy, want the object of the store")
		}
	})
}

// The factory has no method that drops an informer. An informer that has stopped does not run
// again.
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
		if again.GetStore() != store {
			t.Error("the factory returns an informer with a new store, want the old one")
		}
		if !again.IsStopped() {
			t.Error("the informer runs after the second Start, want that it has stopped")
		}
		if keys := store.ListKeys(); len(keys) != 1 {
			t.Errorf("the store has %q, want the one object of the last state", keys)
		}
	})
	factoryType := reflect.TypeFor[informers.SharedInformerFactory]()
	for i := range factoryType.NumMethod() {
		for _, word := range []string{"Forget", "Remove", "Delete", "Stop", "Drop"} {
			if name := factoryType.Method(i).Name; strings.Contains(name, word) {
				t.Errorf("the factory has a method %s, want none that drops an informer", name)
			}
		}
	}
}

func TestClientGosFactoryKnowsNoCustomResource(t *testing.T) {
	f := informers.NewSharedInformerFactory(fake.NewClientset(), 0)
	_, err := f.ForResource(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"})
	if want := "no informer found for"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("ForResource(widgets) = %v, want an error with %q", err, want)
	}
}

// client-go's factory has one informer for each Go type. All unstructured objects have the same Go
// type.
func TestClientGosFactoryHasOneInformerForAllThatIsUnstructured(t *testing.T) {
	f := informers.NewSharedInformerFactory(fake.NewClientset(), 0)
	ask := func(kind string) cache.SharedIndexInformer {
		obj := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": kind}}
		return f.InformerFor(obj, func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer {
			return cache.NewSharedIndexInformerWithOptions(fakeapi.New(), obj, cache.SharedIndexInformerOptions{})
		})
	}
	if ask("Pod") != ask("Node") {
		t.Error("unstructured pods and unstructured nodes have two informers, want one")
	}
}

// The method returns a nil pointer. A call of its methods would panic.
func TestAFakeClientsetHasNoRESTClient(t *testing.T) {
	client := fake.NewClientset().CoreV1().RESTClient()
	if !reflect.ValueOf(client).IsNil() {
		t.Errorf("RESTClient() = %v, want a nil pointer", client)
	}
}

// inTwoFactories caches the ConfigMaps of a namespace in two factories of client-go: as typed
// objects and as unstructured objects.
func inTwoFactories(t *testing.T, config *rest.Config, namespace string) (typedStore, untypedStore cache.Store) {
	t.Helper()
	clientset, err := kubernetes.NewForConfig(config)
	must.NoError(t, err)
	dynamicClient, err := dynamic.NewForConfig(config)
	must.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	typed := informers.NewSharedInformerFactoryWithOptions(clientset, 0, informers.WithNamespace(namespace))
	untyped := dynamicinformer.NewFilteredDynamicSharedInformerFactory(dynamicClient, 0, namespace, nil)
	t.Cleanup(func() {
		cancel()
		typed.Shutdown()
		untyped.Shutdown()
	})
	typedStore = typed.Core().V1().ConfigMaps().Informer().GetStore()
	untypedStore = untyped.ForResource(corev1.SchemeGroupVersion.WithResource("configmaps")).Informer().GetStore()
	typed.StartWithContext(ctx)
	untyped.Start(ctx.Done())
	must.NoError(t, typed.WaitForCacheSyncWithContext(ctx).AsError())
	untyped.WaitForCacheSync(ctx.Done())
	return typedStore, untypedStore
}

func TestTwoFactoriesOfClientGosListTwice(t *testing.T) {
	s := sessiontest.Open(t)
	var asked fault.Requests
	config := rest.CopyConfig(s.Config)
	config.Wrap(asked.Wrap)
	inTwoFactories(t, config, s.Namespace)
	if asked.Lists() != 2 {
		t.Errorf("%d lists, want 2", asked.Lists())
	}
}

// The kind is empty in the answer to a LIST, and in an informer's store, which gets its list over a
// watch.
func TestTypedObjectsComeWithoutTheirKind(t *testing.T) {
	s := sessiontest.Open(t) // with one ConfigMap, the cluster's own
	list, err := s.Client.CoreV1().ConfigMaps(s.Namespace).List(t.Context(), metav1.ListOptions{})
	must.NoError(t, err)
	if kind := list.Items[0].Kind; kind != "" {
		t.Errorf("an object of a LIST has kind %q, want none", kind)
	}
	typedStore, untypedStore := inTwoFactories(t, s.Config, s.Namespace)
	if kind := typedStore.List()[0].(*corev1.ConfigMap).Kind; kind != "" {
		t.Errorf("a typed object of an informer's store has kind %q, want none", kind)
	}
	if kind := untypedStore.List()[0].(*unstructured.Unstructured).GetKind(); kind != "ConfigMap" {
		t.Errorf("an unstructured object of an informer's store has kind %q, want ConfigMap", kind)
	}
}

// The informer factory of the old tutorials lists with a REST client that belongs to no group. Its
// path lacks /api/v1.
func TestTheOldFactoryAsksWhereNothingIs(t *testing.T) {
	s := sessiontest.Open(t)
	client := s.Client.(*kubernetes.Clientset).RESTClient()
	if path := client.Get().Resource("pods").URL().Path; path != "/pods" {
		t.Errorf("the path is %s, want /pods", path)
	}
	pods := cache.NewListWatchFromClient(client, "pods", s.Namespace, fields.Everything())
	_, err := pods.ListWithContext(t.Context(), metav1.ListOptions{})
	if !apierrors.IsNotFound(err) {
		t.Errorf("ListWithContext() = %v, want a NotFound error", err)
	}
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
	if err == nil || err.Error() != want {
		t.Errorf("AsError() = %v, want %s", err, want)
	}
}
