// controller-runtime in terms of this book: a test for each row of the table.

package main

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"
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
	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/requests"
	"example.com/informer/scripts/harness/session"
	"example.com/informer/scripts/harness/session/sessiontest"
)

// managed is a manager whose cache runs on our informers, in a namespace of its own.
type managed struct {
	manager.Manager
	*session.Session
	requests requests.Counter
	made     []*informer.Informer // by the cache
	periods  []time.Duration
}

func newManager(t *testing.T, options ctrlcache.Options) *managed {
	m := &managed{Session: sessiontest.Open(t)}
	restConfig := rest.CopyConfig(m.Config)
	m.requests.Count(restConfig)
	if options.DefaultNamespaces == nil {
		options.DefaultNamespaces = map[string]ctrlcache.Config{m.Session.Namespace: {}}
	}
	options.NewInformer = func(lw cache.ListerWatcher, example runtime.Object, resync time.Duration,
		indexers cache.Indexers) cache.SharedIndexInformer {
		i := informer.New(lw, example, cache.SharedIndexInformerOptions{ResyncPeriod: resync, Indexers: indexers})
		m.made, m.periods = append(m.made, i), append(m.periods, resync)
		return i
	}
	made, err := manager.New(restConfig, manager.Options{
		Cache:      options,
		Metrics:    server.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: ptr.To(true)},
	})
	must.Do(t, err)
	m.Manager = made
	return m
}

// start runs the manager until the test is over.
func (m *managed) start(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- m.Start(ctx) }()
	t.Cleanup(func() { cancel(); must.Do(t, <-ended) })
	<-m.Elected()
	if !m.GetCache().WaitForCacheSync(ctx) {
		t.Fatal("its caches have not synced")
	}
}

func (m *managed) create(t *testing.T, name string, set labels.Set) {
	t.Helper()
	_, err := m.Client.CoreV1().Secrets(m.Session.Namespace).Create(t.Context(),
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: set}}, metav1.CreateOptions{})
	must.Do(t, err)
}

func (m *managed) key(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: m.Session.Namespace, Name: name}
}

func TestAManagerRunsItsCachesFirst(t *testing.T) {
	m := newManager(t, ctrlcache.Options{})
	m.create(t, "a", nil)
	_, err := m.GetCache().GetInformer(t.Context(), &corev1.Secret{}, ctrlcache.BlockUntilSynced(false))
	must.Do(t, err)
	listed := make(chan []any, 1)
	must.Do(t, m.Add(manager.RunnableFunc(func(context.Context) error {
		listed <- m.made[0].GetStore().List()
		return nil
	})))
	m.start(t)
	got := <-listed
	expect.That(t, len(got) == 1, "what the manager runs found %d objects in the cache, want 1", len(got))
}

func TestACacheHasOneInformerForEachType(t *testing.T) {
	m := newManager(t, ctrlcache.Options{})
	m.start(t)
	for range 2 {
		_, err := m.GetCache().GetInformer(t.Context(), &corev1.Secret{})
		must.Do(t, err)
		must.Do(t, m.GetClient().List(t.Context(), &corev1.SecretList{}))
	}
	expect.That(t, len(m.made) == 1, "%d informers were made, want 1", len(m.made))
}

func TestAClientReadsFromTheCache(t *testing.T) {
	m := newManager(t, ctrlcache.Options{})
	m.create(t, "a", nil)
	m.start(t)
	var secret corev1.Secret
	must.Do(t, m.GetClient().Get(t.Context(), m.key("a"), &secret)) // the first read of a type makes an informer
	expect.That(t, m.requests.Watching(), "the first read has made no watch")
	m.requests.Reset()
	must.Do(t, m.GetClient().Get(t.Context(), m.key("a"), &secret))
	must.Do(t, m.GetClient().List(t.Context(), &corev1.SecretList{}))
	got := m.requests.String()
	expect.That(t, got == "none", "two reads: %s, want none", got)
	must.Do(t, m.GetAPIReader().Get(t.Context(), m.key("a"), &secret))
	expect.That(t, m.requests.String() != "none", "a read past the cache was no request")
}

func TestACacheCanRefuseToMakeAnInformer(t *testing.T) {
	m := newManager(t, ctrlcache.Options{ReaderFailOnMissingInformer: true})
	m.start(t)
	err := m.GetClient().List(t.Context(), &corev1.SecretList{})
	missing := (&ctrlcache.ErrResourceNotCached{})
	expect.That(t, errors.As(err, &missing), "got %v, want ErrResourceNotCached", err)
}

func TestAReadGivesACopy(t *testing.T) {
	m := newManager(t, ctrlcache.Options{})
	m.create(t, "a", nil)
	m.start(t)
	for range 2 { // the second time from a cache that somebody would have changed
		var secret corev1.Secret
		must.Do(t, m.GetClient().Get(t.Context(), m.key("a"), &secret))
		expect.That(t, secret.Labels == nil, "a change of what was read has changed the cache")
		secret.Labels = map[string]string{"changed": "yes"}
	}
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
	must.Do(t, m.GetFieldIndexer().IndexField(t.Context(), &corev1.Secret{}, "name",
		func(o client.Object) []string { return []string{o.GetName()} }))
	m.start(t)
	var list corev1.SecretList
	must.Do(t, m.GetClient().List(t.Context(), &list, client.MatchingFields{"name": "a"}))
	expect.That(t, len(list.Items) == 1 && list.Items[0].Annotations["transformed"] == "yes",
		"got %v, want a, transformed", list.Items)
	got, indexers, hours := m.made[0].GetStore().ListKeys(), m.made[0].GetIndexer().GetIndexers(), m.periods[0].Hours()
	expect.That(t, slices.Equal(got, []string{m.key("a").String()}),
		"the cache has %v, want what the selector takes", got)
	expect.That(t, indexers["field:name"] != nil, "IndexField added no index: %v", indexers)
	expect.That(t, hours >= 9 && hours <= 11, "the resync period is %v hours, want 10, a tenth more or less", hours)
}

func TestANamespaceIsAnInformer(t *testing.T) {
	two := map[string]ctrlcache.Config{"default": {}, "kube-system": {}}
	m := newManager(t, ctrlcache.Options{DefaultNamespaces: two})
	m.start(t)
	must.Do(t, m.GetClient().List(t.Context(), &corev1.SecretList{}))
	expect.That(t, len(m.made) == 2, "%d informers for two namespaces", len(m.made))
}

func TestASourceIsAHandler(t *testing.T) {
	m := newManager(t, ctrlcache.Options{})
	m.create(t, "a", nil)
	m.start(t)
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	defer queue.ShutDown()
	kind := source.Kind(m.GetCache(), &corev1.Secret{}, &handler.TypedEnqueueRequestForObject[*corev1.Secret]{})
	must.Do(t, kind.Start(t.Context(), queue))
	must.Do(t, kind.WaitForSync(t.Context())) // its handler has got the first list
	got, _ := queue.Get()
	expect.That(t, got.NamespacedName == m.key("a"), "got %v", got)
}

// A child that changes hands is of interest to both owners.
func TestTheHandlerForOwnersTakesOldAndNew(t *testing.T) {
	owned := func(by string) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "child", OwnerReferences: []metav1.OwnerReference{
			{APIVersion: "v1", Kind: "ConfigMap", Name: by, Controller: ptr.To(true)},
		}}}
	}
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), meta.RESTScopeNamespace)
	forOwner := handler.TypedEnqueueRequestForOwner[*corev1.Secret](scheme.Scheme, mapper, &corev1.ConfigMap{})
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	defer queue.ShutDown()
	update := event.TypedUpdateEvent[*corev1.Secret]{ObjectOld: owned("one"), ObjectNew: owned("two")}
	forOwner.Update(t.Context(), update, queue)
	expect.That(t, queue.Len() == 2, "%d keys, want those of both owners", queue.Len())

	child := owned("no controller") // Owns takes no such owner, unless it is told to match every one
	child.OwnerReferences[0].Controller = nil
	onlyController := handler.TypedEnqueueRequestForOwner[*corev1.Secret](
		scheme.Scheme, mapper, &corev1.ConfigMap{}, handler.OnlyControllerOwner())
	for i, handler := range []handler.TypedEventHandler[*corev1.Secret, reconcile.Request]{onlyController, forOwner} {
		handler.Delete(t.Context(), event.TypedDeleteEvent[*corev1.Secret]{Object: child}, queue)
		expect.That(t, queue.Len() == 2+i, "%d keys, want %d", queue.Len(), 2+i)
	}
}

// An object that a filter took, and takes no more, is a delete for a
// FilteringResourceEventHandler. With a predicate, nobody hears of it.
func TestAPredicateIsNotAFilter(t *testing.T) {
	wanted := func(obj metav1.Object) bool { return obj.GetLabels()["wanted"] == "yes" }
	before := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"wanted": "yes"}}}
	after := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "a"}}

	var calls []string
	cache.FilteringResourceEventHandler{
		FilterFunc: func(obj any) bool { return wanted(obj.(metav1.Object)) },
		Handler:    cache.ResourceEventHandlerFuncs{DeleteFunc: func(any) { calls = append(calls, "OnDelete") }},
	}.OnUpdate(before, after)
	expect.That(t, slices.Equal(calls, []string{"OnDelete"}), "the filter: %v, want OnDelete", calls)
	predicates := predicate.NewPredicateFuncs(func(o client.Object) bool { return wanted(o) })
	expect.That(t, !predicates.Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after}),
		"the predicate lets the update through")
	expect.That(t, predicates.Update(event.UpdateEvent{ObjectOld: after, ObjectNew: before}), "it drops a match")
	generation := predicate.GenerationChangedPredicate{}.Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after})
	expect.That(t, !generation, "the predicate for the generation lets a change of labels through")
}

func TestWhatAReconcilerReturns(t *testing.T) {
	m := newManager(t, ctrlcache.Options{})
	calls, results := make(chan reconcile.Request, 10), []reconcile.Result{{}, {RequeueAfter: time.Millisecond}, {}}
	errs := []error{errors.New("the first call fails"), nil, nil}
	n := 0
	err := builder.ControllerManagedBy(m).Named("test").For(&corev1.Secret{}).Complete(
		reconcile.Func(func(_ context.Context, request reconcile.Request) (reconcile.Result, error) {
			defer func() { n++ }()
			calls <- request
			return results[n], errs[n]
		}))
	must.Do(t, err)
	m.start(t)
	m.create(t, "a", nil)
	for range 3 { // an error comes back, and so does RequeueAfter; the third is the last
		got := <-calls
		expect.That(t, reflect.DeepEqual(got, reconcile.Request{NamespacedName: m.key("a")}), "got %v", got)
	}
}
