// Claims of the pages about rights, owners, custom resources, fake clientsets and mutation caches.

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
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
	"k8s.io/utils/ptr"

	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/08-factory/controller/notices"
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
	must.NoError(t, err)
	must.Until(t, "the role counts: the API server watches roles, as an informer does", func() bool {
		_, err := client.CoreV1().ConfigMaps(s.Namespace).List(t.Context(), metav1.ListOptions{})
		return err == nil
	})
	_, err = client.CoreV1().ConfigMaps("").List(t.Context(), metav1.ListOptions{})
	if !apierrors.IsForbidden(err) {
		t.Errorf("a list of the whole cluster returns the error %v, want Forbidden", err)
	}
}

// A test that writes only after the channel watching is closed loses no event.
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
	must.NoError(t, err)
	factory.Start(t.Context().Done())
	factory.WaitForCacheSync(t.Context().Done())
	<-watching // WaitForCacheSync is not enough: it waits only for the list
	must.NoError(t, client.CoreV1().Secrets("ns").Delete(t.Context(), "before", metav1.DeleteOptions{}))
	<-gone
}

func TestAReactorAnswersWithAConflict(t *testing.T) {
	client := fake.NewClientset(secret("a"))
	old := secret("a")
	old.ResourceVersion = "1"
	for range 2 { // the second update has an old version, and the fake accepts it
		_, err := client.CoreV1().Secrets("ns").Update(t.Context(), old.DeepCopy(), metav1.UpdateOptions{})
		must.NoError(t, err)
	}

	conflicts := 1
	client.PrependReactor("update", "secrets", func(clienttesting.Action) (bool, runtime.Object, error) {
		if conflicts == 0 {
			return false, nil, nil // the next reactor, the object tracker, makes the update
		}
		conflicts--
		return true, nil, apierrors.NewConflict(corev1.Resource("secrets"), "a", errors.New("somebody was faster"))
	})
	tries := 0
	must.NoError(t, retry.RetryOnConflict(retry.DefaultRetry, func() error {
		tries++
		_, err := client.CoreV1().Secrets("ns").Update(t.Context(), old, metav1.UpdateOptions{})
		return err
	}))
	if tries != 2 {
		t.Errorf("RetryOnConflict has tried %d times, want 2", tries)
	}
}

func TestReactorsLetAListAndAWatchFail(t *testing.T) {
	client := fake.NewClientset(secret("a"))
	errRefused := errors.New("out of luck")
	client.PrependReactor("list", "secrets", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, errRefused
	})
	client.PrependWatchReactor("secrets", func(clienttesting.Action) (bool, watch.Interface, error) {
		return true, nil, errRefused
	})
	if _, err := client.CoreV1().Secrets("ns").List(t.Context(), metav1.ListOptions{}); !errors.Is(err, errRefused) {
		t.Errorf("List() returns the error %v, want %v", err, errRefused)
	}
	if _, err := client.CoreV1().Secrets("ns").Watch(t.Context(), metav1.ListOptions{}); !errors.Is(err, errRefused) {
		t.Errorf("Watch() returns the error %v, want %v", err, errRefused)
	}
}

func TestAWatchReactorSendsEvents(t *testing.T) {
	client, events := fake.NewClientset(), watch.NewFake()
	client.PrependWatchReactor("secrets", func(clienttesting.Action) (bool, watch.Interface, error) {
		return true, events, nil
	})
	factory := informers.NewSharedInformerFactory(client, 0)
	t.Cleanup(factory.Shutdown)
	seen := make(chan string)
	_, err := factory.Core().V1().Secrets().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { seen <- "add" },
		UpdateFunc: func(any, any) { seen <- "update" },
		DeleteFunc: func(any) { seen <- "delete" },
	})
	must.NoError(t, err)
	factory.Start(t.Context().Done())
	for _, test := range []struct {
		send func(runtime.Object)
		want string
	}{{events.Add, "add"}, {events.Modify, "update"}, {events.Delete, "delete"}} {
		test.send(secret("a")) // returns when the informer has taken the event
		if got := <-seen; got != test.want {
			t.Errorf("the handler gets: %s, want: %s", got, test.want)
		}
	}
}

func TestAFakeIgnoresFinalizers(t *testing.T) {
	kept := secret("a")
	kept.Finalizers = []string{"example.com/keep"}
	client := fake.NewClientset(kept)
	must.NoError(t, client.CoreV1().Secrets("ns").Delete(t.Context(), "a", metav1.DeleteOptions{}))
	_, err := client.CoreV1().Secrets("ns").Get(t.Context(), "a", metav1.GetOptions{})
	if !apierrors.IsNotFound(err) {
		t.Errorf("Get(a) after the delete = %v, want a NotFound error although the object has a finalizer", err)
	}
}

// On a server, the first Deployment would get the generation 1, and a default for the number of
// replicas. The second one would be refused.
func TestAFakeNeitherSetsNorChecksAnything(t *testing.T) {
	deployments := fake.NewClientset().AppsV1().Deployments("ns")
	created, err := deployments.Create(t.Context(),
		&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web"}}, metav1.CreateOptions{})
	must.NoError(t, err)
	if created.Generation != 0 || created.Spec.Replicas != nil {
		t.Errorf("Create() gives generation %d and replicas %v, want 0 and nil", created.Generation,
			created.Spec.Replicas)
	}
	created.Spec.Replicas = ptr.To[int32](-1)
	updated, err := deployments.Update(t.Context(), created, metav1.UpdateOptions{})
	must.NoError(t, err)
	if updated.Generation != 0 {
		t.Errorf("after an update of the spec, the generation is %d, want 0", updated.Generation)
	}
}

// The garbage collector deletes an object only when its last owner is gone.
func TestAnObjectOfTwoOwners(t *testing.T) {
	s := sessiontest.Open(t)
	secrets := s.Client.CoreV1().Secrets(s.Namespace)
	child := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "child"}}
	for _, name := range []string{"first", "second"} {
		owner, err := secrets.Create(t.Context(),
			&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		must.NoError(t, err)
		child.OwnerReferences = append(child.OwnerReferences,
			metav1.OwnerReference{APIVersion: "v1", Kind: "Secret", Name: name, UID: owner.UID})
	}
	_, err := secrets.Create(t.Context(), child, metav1.CreateOptions{})
	must.NoError(t, err)

	must.NoError(t, secrets.Delete(t.Context(), "first", metav1.DeleteOptions{}))
	must.Until(t, "the collector has removed the reference to the first owner", func() bool {
		got, err := secrets.Get(t.Context(), "child", metav1.GetOptions{})
		must.NoError(t, err) // the child stays
		return len(got.OwnerReferences) == 1 && got.OwnerReferences[0].Name == "second"
	})
	must.NoError(t, secrets.Delete(t.Context(), "second", metav1.DeleteOptions{}))
	must.Until(t, "the child is gone", func() bool {
		_, err := secrets.Get(t.Context(), "child", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
}

// An informer that asked a fake to stream its list would wait forever for the end of the list.
func TestAFakeSaysThatItCannotStream(t *testing.T) {
	for _, client := range []any{fake.NewClientset(), dynamicfake.NewSimpleDynamicClient(runtime.NewScheme())} {
		if !watchlist.DoesClientNotSupportWatchListSemantics(client) {
			t.Errorf("DoesClientNotSupportWatchListSemantics(%T) = false, want true", client)
		}
	}
}

// A mutation cache returns an object that was put into it for five minutes, unless the store has a
// newer version, or a hundred others were put into it or read since.
func TestAMutationCacheShowsTheNewerOfTwo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := cache.NewStore(cache.MetaNamespaceKeyFunc)
		mutations := cache.NewIntegerResourceVersionMutationCacheWithOptions(klog.Background(), store,
			cache.MutationCacheOptions{})
		secretOfVersion := func(version string) *corev1.Secret {
			s := secret("a")
			s.ResourceVersion = version
			return s
		}
		wantVersion := func(want string) {
			t.Helper()
			obj, _, err := mutations.GetByKey("ns/a")
			must.NoError(t, err)
			if got := obj.(*corev1.Secret).ResourceVersion; got != want {
				t.Errorf("the mutation cache has version %s, want %s", got, want)
			}
		}
		must.NoError(t, store.Add(secretOfVersion("8")))
		mutations.Mutation(secretOfVersion("10"))
		wantVersion("10")
		time.Sleep(5*time.Minute + time.Second)
		wantVersion("8")
		mutations.Mutation(secretOfVersion("10"))
		must.NoError(t, store.Update(secretOfVersion("11")))
		wantVersion("11")

		mutations.Mutation(secretOfVersion("12"))
		for i := range 99 {
			mutations.Mutation(secret(fmt.Sprint(i)))
		}
		wantVersion("12")
		for i := range 100 {
			mutations.Mutation(secret(fmt.Sprint(i)))
		}
		wantVersion("11") // a hundred others are newer
	})
}

// The store does not have an object that was put into a mutation cache: it was created just now.
func TestAMutationCacheWithAnObjectThatTheStoreLacks(t *testing.T) {
	for _, includeAdds := range []bool{false, true} {
		mutations := cache.NewIntegerResourceVersionMutationCacheWithOptions(klog.Background(),
			cache.NewStore(cache.MetaNamespaceKeyFunc), cache.MutationCacheOptions{IncludeAdds: includeAdds})
		mutations.Mutation(secret("a"))
		if _, exists, err := mutations.GetByKey("ns/a"); exists != includeAdds || err != nil {
			t.Errorf("IncludeAdds %t: GetByKey(ns/a) = %t, %v; want %t, nil", includeAdds, exists, err, includeAdds)
		}
	}
}

func secret(name string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}}
}

// An informer of a custom resource can run before the resource is defined. It syncs when somebody
// has defined it.
func TestADefinitionThatComesLater(t *testing.T) {
	definition := `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: parcels.NAMESPACE.example.com}
spec:
  group: NAMESPACE.example.com
  scope: Namespaced
  names: {plural: parcels, singular: parcel, kind: Parcel, listKind: ParcelList}
  versions:
    - name: v1
      served: true
      storage: true
      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`
	parcel := "apiVersion: NAMESPACE.example.com/v1\nkind: Parcel\nmetadata: {name: late}\n"
	files := fstest.MapFS{
		"testdata/crd.yaml":    {Data: []byte(definition)},
		"testdata/parcel.yaml": {Data: []byte(parcel)},
	}
	forBoth(t, func(t *testing.T, newInformer notices.NewInformer) {
		s := sessiontest.Open(t)
		client, err := dynamic.NewForConfig(s.Config)
		must.NoError(t, err)
		parcels := client.Resource(schema.GroupVersionResource{
			Group: s.Namespace + ".example.com", Version: "v1", Resource: "parcels",
		}).Namespace(s.Namespace)
		refused, added := make(chan error, 100), make(chan string, 100)
		informer := newInformer(&cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
				return parcels.List(ctx, options)
			},
			WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
				return parcels.Watch(ctx, options)
			},
		}, &unstructured.Unstructured{}, cache.SharedIndexInformerOptions{})
		must.NoError(t, informer.SetWatchErrorHandler(func(_ *cache.Reflector, err error) { refused <- err }))
		_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: func(obj any) { added <- obj.(*unstructured.Unstructured).GetName() },
		})
		must.NoError(t, err)
		must.Run(t, informer.RunWithContext)

		want := "the server could not find the requested resource"
		if err := <-refused; !strings.Contains(err.Error(), want) {
			t.Errorf("before there is a definition, the watch error handler gets %v, want an error with %q", err, want)
		}
		for _, file := range []string{"crd.yaml", "parcel.yaml"} {
			_, err := s.Kubectl(t.Context(), files, "create", "-f", file)
			must.NoError(t, err)
		}
		if got := <-added; got != "late" {
			t.Errorf("OnAdd of %s, want late", got)
		}
	})
}

// forBoth runs a test with client-go's informers, and with ours.
func forBoth(t *testing.T, test func(t *testing.T, newInformer notices.NewInformer)) {
	t.Run("client-go's", func(t *testing.T) { test(t, cache.NewSharedIndexInformerWithOptions) })
	t.Run("ours", func(t *testing.T) { test(t, informer.Default.New) })
}
