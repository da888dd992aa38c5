// controller-runtime in terms of this book: a test for each row of the table in
// docs/08-controllers-runtime.md.

package main

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/fault"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/session"
	"example.com/informer/scripts/harness/session/sessiontest"
)

// A testManager is a manager whose cache runs on our informers, in a namespace of its own.
type testManager struct {
	manager.Manager
	*session.Session
	requests fault.Requests
	made     []*informer.Informer // the informers that the cache has made
	periods  []time.Duration      // their resync periods
}

func newManager(t *testing.T, options ctrlcache.Options, configure ...func(*manager.Options)) *testManager {
	t.Helper()
	m := &testManager{Session: sessiontest.Open(t)}
	restConfig := rest.CopyConfig(m.Config)
	restConfig.Wrap(m.requests.Wrap)
	if options.DefaultNamespaces == nil {
		options.DefaultNamespaces = map[string]ctrlcache.Config{m.Session.Namespace: {}}
	}
	options.NewInformer = func(lw cache.ListerWatcher, example runtime.Object, resync time.Duration,
		indexers cache.Indexers) cache.SharedIndexInformer {
		i := informer.New(lw, example, cache.SharedIndexInformerOptions{ResyncPeriod: resync, Indexers: indexers})
		m.made, m.periods = append(m.made, i), append(m.periods, resync)
		return i
	}
	managerOptions := manager.Options{
		Cache:      options,
		Metrics:    server.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: ptr.To(true)},
	}
	for _, f := range configure {
		f(&managerOptions)
	}
	made, err := manager.New(restConfig, managerOptions)
	must.NoError(t, err)
	m.Manager = made
	return m
}

// start runs the manager until the test is over.
func (m *testManager) start(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- m.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		must.NoError(t, <-ended)
	})
	<-m.Elected()
	if !m.GetCache().WaitForCacheSync(ctx) {
		t.Fatal("the caches of the manager have not synced")
	}
}

func (m *testManager) create(t *testing.T, name string, set labels.Set) {
	t.Helper()
	_, err := m.Client.CoreV1().Secrets(m.Session.Namespace).Create(t.Context(),
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: set}}, metav1.CreateOptions{})
	must.NoError(t, err)
}

func (m *testManager) key(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: m.Session.Namespace, Name: name}
}

func TestAManagerRunsItsCachesFirst(t *testing.T) {
	m := newManager(t, ctrlcache.Options{})
	m.create(t, "a", nil)
	_, err := m.GetCache().GetInformer(t.Context(), &corev1.Secret{}, ctrlcache.BlockUntilSynced(false))
	must.NoError(t, err)
	listed := make(chan []any, 1)
	must.NoError(t, m.Add(manager.RunnableFunc(func(context.Context) error {
		listed <- m.made[0].GetStore().List()
		return nil
	})))
	m.start(t)
	if got := <-listed; len(got) != 1 {
		t.Errorf("the Runnable found %d objects in the cache, want 1", len(got))
	}
}

func TestACacheHasOneInformerForEachType(t *testing.T) {
	m := newManager(t, ctrlcache.Options{})
	m.start(t)
	for range 2 {
		_, err := m.GetCache().GetInformer(t.Context(), &corev1.Secret{})
		must.NoError(t, err)
		must.NoError(t, m.GetClient().List(t.Context(), &corev1.SecretList{}))
	}
	if len(m.made) != 1 {
		t.Errorf("the cache has made %d informers, want 1", len(m.made))
	}
}

func TestAClientReadsFromTheCache(t *testing.T) {
	m := newManager(t, ctrlcache.Options{})
	m.create(t, "a", nil)
	m.start(t)
	var secret corev1.Secret
	must.NoError(t, m.GetClient().Get(t.Context(), m.key("a"), &secret)) // the first read of a type makes an informer
	if !m.requests.Watching() {
		t.Error("the first read has opened no watch")
	}
	m.requests.Reset()
	must.NoError(t, m.GetClient().Get(t.Context(), m.key("a"), &secret))
	must.NoError(t, m.GetClient().List(t.Context(), &corev1.SecretList{}))
	if got := m.requests.String(); got != "none" {
		t.Errorf("two reads from the cache cost the requests %s, want none", got)
	}
	must.NoError(t, m.GetAPIReader().Get(t.Context(), m.key("a"), &secret))
	if m.requests.String() == "none" {
		t.Error("a read with the API reader costs no request, want one")
	}
}

func TestACacheCanRefuseToMakeAnInformer(t *testing.T) {
	m := newManager(t, ctrlcache.Options{ReaderFailOnMissingInformer: true})
	m.start(t)
	err := m.GetClient().List(t.Context(), &corev1.SecretList{})
	var notCached *ctrlcache.ErrResourceNotCached
	if !errors.As(err, &notCached) {
		t.Errorf("List() = %v, want ErrResourceNotCached", err)
	}
}

// A read returns a copy. With UnsafeDisableDeepCopy, the copy is shallow: it has the maps of the cache.
func TestAReadGivesACopy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		configMap := fakeapi.ConfigMap("a", "1")
		configMap.Data = map[string]string{"sky": "blue"}
		mapper := meta.NewDefaultRESTMapper(nil)
		mapper.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), meta.RESTScopeNamespace)
		c, err := ctrlcache.New(&rest.Config{Host: "http://127.0.0.1:1"}, ctrlcache.Options{
			Mapper: mapper,
			NewInformer: func(_ cache.ListerWatcher, example runtime.Object, _ time.Duration, indexers cache.Indexers,
			) cache.SharedIndexInformer {
				return informer.New(fakeapi.New(configMap), example,
					cache.SharedIndexInformerOptions{Indexers: indexers})
			},
		})
		must.NoError(t, err)
		must.Run(t, func(ctx context.Context) { _ = c.Start(ctx) })
		synctest.Wait() // the cache has started
		read := func(unsafe client.UnsafeDisableDeepCopyOption) []map[string]string {
			var one corev1.ConfigMap
			must.NoError(t, c.Get(t.Context(), types.NamespacedName{Namespace: "ns", Name: "a"}, &one, unsafe))
			var list corev1.ConfigMapList
			must.NoError(t, c.List(t.Context(), &list, unsafe))
			return []map[string]string{one.Data, list.Items[0].Data}
		}
		for _, unsafe := range []client.UnsafeDisableDeepCopyOption{false, true} {
			for i, data := range read(unsafe) {
				data["changed"] = "yes"
				if got := read(unsafe)[i]["changed"] == "yes"; got != bool(unsafe) {
					t.Errorf("unsafe %t: the change of read %d is in the cache: %t", unsafe, i, got)
				}
				delete(data, "changed")
			}
		}
	})
}

func TestOptionsOfACache(t *testing.T) {
	m := newManager(t, ctrlcache.Options{
		ByObject: map[client.Object]ctrlcache.ByObject{
			&corev1.Secret{}: {Label: labels.SelectorFromSet(labels.Set{"in": "yes"})},
		},
		DefaultTransform: func(obj any) (any, error) {
			obj.(*corev1.Secret).Annotations = map[string]string{"transformed": "yes"}
			return obj, nil
		},
	})
	m.create(t, "a", labels.Set{"in": "yes"})
	m.create(t, "b", labels.Set{"in": "no"})
	must.NoError(t, m.GetFieldIndexer().IndexField(t.Context(), &corev1.Secret{}, "name",
		func(o client.Object) []string { return []string{o.GetName()} }))
	m.start(t)
	var list corev1.SecretList
	must.NoError(t, m.GetClient().List(t.Context(), &list, client.MatchingFields{"name": "a"}))
	if len(list.Items) != 1 {
		t.Fatalf("List() by the index returns %d objects, want 1: %v", len(list.Items), list.Items)
	}
	if annotations := list.Items[0].Annotations; annotations["transformed"] != "yes" {
		t.Errorf("the object has the annotations %v, want transformed: yes", annotations)
	}
	if got, want := m.made[0].GetStore().ListKeys(), []string{m.key("a").String()}; !slices.Equal(got, want) {
		t.Errorf("the cache has %q, want %q: the objects that match the selector", got, want)
	}
	if indexers := m.made[0].GetIndexer().GetIndexers(); indexers["field:name"] == nil {
		t.Errorf("the informer has the indexes %v, want field:name among them", slices.Collect(maps.Keys(indexers)))
	}
	if hours := m.periods[0].Hours(); hours < 9 || hours > 11 {
		t.Errorf("the resync period is %v hours, want 10, a tenth more or less", hours)
	}
}

func TestANamespaceIsAnInformer(t *testing.T) {
	two := map[string]ctrlcache.Config{"default": {}, "kube-system": {}}
	m := newManager(t, ctrlcache.Options{DefaultNamespaces: two})
	m.start(t)
	must.NoError(t, m.GetClient().List(t.Context(), &corev1.SecretList{}))
	if len(m.made) != 2 {
		t.Errorf("the cache has made %d informers for two namespaces, want 2", len(m.made))
	}
}

func TestASourceIsAHandler(t *testing.T) {
	m := newManager(t, ctrlcache.Options{})
	m.create(t, "a", nil)
	m.start(t)
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	defer queue.ShutDown()
	kind := source.Kind(m.GetCache(), &corev1.Secret{}, &handler.TypedEnqueueRequestForObject[*corev1.Secret]{})
	must.NoError(t, kind.Start(t.Context(), queue))
	must.NoError(t, kind.WaitForSync(t.Context())) // now the handler has received the first list
	if got, _ := queue.Get(); got.NamespacedName != m.key("a") {
		t.Errorf("the queue has the key %v, want %v", got.NamespacedName, m.key("a"))
	}
}

// After an update that changes the owner of a child, the queue has the keys of both owners.
func TestTheHandlerForOwnersTakesOldAndNew(t *testing.T) {
	newChild := func(owner string) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "child", OwnerReferences: []metav1.OwnerReference{
			{APIVersion: "v1", Kind: "ConfigMap", Name: owner, Controller: ptr.To(true)},
		}}}
	}
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), meta.RESTScopeNamespace)
	forOwner := handler.TypedEnqueueRequestForOwner[*corev1.Secret](scheme.Scheme, mapper, &corev1.ConfigMap{})
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	defer queue.ShutDown()
	update := event.TypedUpdateEvent[*corev1.Secret]{ObjectOld: newChild("one"), ObjectNew: newChild("two")}
	forOwner.Update(t.Context(), update, queue)
	if queue.Len() != 2 {
		t.Errorf("after the update, the queue has %d keys, want 2: those of both owners", queue.Len())
	}

	// Owns uses OnlyControllerOwner, unless it has the option MatchEveryOwner.
	onlyController := handler.TypedEnqueueRequestForOwner[*corev1.Secret](
		scheme.Scheme, mapper, &corev1.ConfigMap{}, handler.OnlyControllerOwner())
	child := newChild("three")
	child.OwnerReferences[0].Controller = nil // this owner is not the controller of the child
	deleted := event.TypedDeleteEvent[*corev1.Secret]{Object: child}
	onlyController.Delete(t.Context(), deleted, queue)
	if queue.Len() != 2 {
		t.Errorf("with OnlyControllerOwner, the queue has %d keys, want 2 as before", queue.Len())
	}
	forOwner.Delete(t.Context(), deleted, queue)
	if queue.Len() != 3 {
		t.Errorf("without OnlyControllerOwner, the queue has %d keys, want 3", queue.Len())
	}
}

// After an update, an object may no longer match. A FilteringResourceEventHandler then calls
// OnDelete. A predicate drops the update.
func TestAPredicateIsNotAFilter(t *testing.T) {
	wanted := func(obj metav1.Object) bool { return obj.GetLabels()["wanted"] == "yes" }
	before := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"wanted": "yes"}}}
	after := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "a"}}

	var calls []string
	cache.FilteringResourceEventHandler{
		FilterFunc: func(obj any) bool { return wanted(obj.(metav1.Object)) },
		Handler:    cache.ResourceEventHandlerFuncs{DeleteFunc: func(any) { calls = append(calls, "OnDelete") }},
	}.OnUpdate(before, after)
	if !slices.Equal(calls, []string{"OnDelete"}) {
		t.Errorf("the filter calls %q, want OnDelete", calls)
	}
	predicates := predicate.NewPredicateFuncs(func(o client.Object) bool { return wanted(o) })
	if predicates.Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after}) {
		t.Error("Update(match, no match) = true, want false: the predicate drops the update")
	}
	if !predicates.Update(event.UpdateEvent{ObjectOld: after, ObjectNew: before}) {
		t.Error("Update(no match, match) = false, want true")
	}
	generationChanged := predicate.GenerationChangedPredicate{}
	if generationChanged.Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after}) {
		t.Error("GenerationChangedPredicate.Update() = true for a change of labels, want false")
	}
}

func TestWhatAReconcilerReturns(t *testing.T) {
	m := newManager(t, ctrlcache.Options{})
	calls := make(chan reconcile.Request, 10)
	n := 0
	err := builder.ControllerManagedBy(m).Named("test").For(&corev1.Secret{}).Complete(
		reconcile.Func(func(_ context.Context, request reconcile.Request) (reconcile.Result, error) {
			calls <- request
			n++
			switch n {
			case 1:
				return reconcile.Result{RequeueAfter: time.Hour}, errors.New("the first call fails")
			case 2:
				return reconcile.Result{RequeueAfter: time.Millisecond}, nil
			case 3:
				return reconcile.Result{}, nil
			default:
				t.Errorf("call %d of the reconciler, want 3 calls", n)
				return reconcile.Result{}, nil
			}
		}))
	must.NoError(t, err)
	m.start(t)
	m.create(t, "a", nil)
	want := reconcile.Request{NamespacedName: m.key("a")}
	for i := range 3 { // the second call comes after the error, the third after RequeueAfter
		if got := <-calls; got != want {
			t.Errorf("call %d of the reconciler has the request %v, want %v", i+1, got, want)
		}
	}
}
