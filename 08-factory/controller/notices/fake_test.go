// The controller on fake clients: what Reconcile does with a key, and the whole of it
// in fake time.

package notices

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
)

// newFake returns a Reconciler on fake clients, which have one notice of one copy.
func newFake(notices cache.Store, copies cache.Indexer) (*Reconciler, *fake.Clientset, *dynamicfake.FakeDynamicClient) {
	picnic := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": Resource.GroupVersion().String(), "kind": Kind,
		"metadata": map[string]any{
			"namespace": "ns", "name": "picnic", "uid": "1", "generation": int64(7), "finalizers": []any{finalizer},
		},
		"spec": map[string]any{"text": "on Sunday", "copies": int64(1)},
	}}
	client := fake.NewClientset()
	dynamicClient := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
		map[schema.GroupVersionResource]string{Resource: "NoticeList"}, picnic)
	return &Reconciler{
		Client: client, Resource: dynamicClient.Resource(Resource).Namespace("ns"), Notices: notices, Copies: copies,
		Recorder: events.NewFakeRecorder(10),
	}, client, dynamicClient
}

func TestReconcile(t *testing.T) {
	notices := cache.NewStore(cache.MetaNamespaceKeyFunc)
	copies := cache.NewIndexer(cache.MetaNamespaceKeyFunc, Indexers)
	r, client, _ := newFake(notices, copies)
	picnic, err := r.Resource.Get(t.Context(), "picnic", metav1.GetOptions{})
	must.Do(t, err)
	must.Do(t, notices.Add(picnic)) // the caches are what the test puts into them

	must.Do(t, r.Reconcile(t.Context(), "ns/picnic"))
	made, err := client.CoreV1().ConfigMaps("ns").Get(t.Context(), "picnic-0", metav1.GetOptions{})
	must.Do(t, err)
	expect.That(t, metav1.IsControlledBy(made, picnic) && made.Data["text"] == "on Sunday", "it made %v", made)
	must.Do(t, r.Reconcile(t.Context(), "ns/picnic")) // the cache is late: it must not make another one
	must.Do(t, copies.Add(made))
	must.Do(t, r.Reconcile(t.Context(), "ns/picnic"))
	now, err := r.Resource.Get(t.Context(), "picnic", metav1.GetOptions{})
	must.Do(t, err)
	got, _, _ := unstructured.NestedMap(now.Object, "status")
	expect.That(t, got["copies"] == int64(1) && got["observedGeneration"] == int64(7), "the status is %v", got)

	changed := made.DeepCopy()
	changed.Data["text"] = "cancelled"
	must.Do(t, copies.Update(changed))
	client.PrependReactor("update", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewConflict(corev1.Resource("configmaps"), "picnic-0", errors.New("too late"))
	})
	for range 2 { // and again: the cache still has what it had
		if err := r.Reconcile(t.Context(), "ns/picnic"); !apierrors.IsConflict(err) {
			t.Errorf("the copy on the server is still wrong, and Reconcile returns %v: want the conflict", err)
		}
	}
	must.Do(t, r.Reconcile(t.Context(), "ns/no-such-notice"))
}

// Three copies are wanted. One is there, one is too many, and the server refuses each
// write of a ConfigMap. The first round is for the finalizer.
func TestReconcileWritesWhatItCan(t *testing.T) {
	notices := cache.NewStore(cache.MetaNamespaceKeyFunc)
	copies := cache.NewIndexer(cache.MetaNamespaceKeyFunc, Indexers)
	r, client, dynamicClient := newFake(notices, copies)
	picnic, err := r.Resource.Get(t.Context(), "picnic", metav1.GetOptions{})
	must.Do(t, err)
	picnic.SetFinalizers(nil)
	must.Do(t, unstructured.SetNestedField(picnic.Object, int64(3), "spec", "copies"))
	owner := *metav1.NewControllerRef(picnic, Resource.GroupVersion().WithKind(Kind))
	made := &corev1.ConfigMap{Data: map[string]string{"text": "on Sunday"}}
	made.OwnerReferences = []metav1.OwnerReference{owner}
	for _, made.Name = range []string{"picnic-1", "picnic-9"} {
		must.Do(t, copies.Add(made.DeepCopy()))
	}
	client.PrependReactor("*", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, errors.New("out of luck")
	})
	for _, want := range []string{"[update notices] 0 refused, 0 right, cache changed: false",
		"[create configmaps create configmaps delete configmaps update notices/status] " +
			"3 refused, 1 right, cache changed: false"} {
		must.Do(t, notices.Add(picnic))
		before := fmt.Sprint(picnic)
		dynamicClient.ClearActions()
		refused := strings.Count(fmt.Sprint(r.Reconcile(t.Context(), "ns/picnic")), "out of luck")
		changed := fmt.Sprint(picnic) != before
		var writes []string
		for _, a := range append(client.Actions(), dynamicClient.Actions()...) {
			writes = append(writes, strings.Trim(a.GetVerb()+" "+a.GetResource().Resource+"/"+a.GetSubresource(), "/"))
		}
		slices.Sort(writes)
		picnic, err = r.Resource.Get(t.Context(), "picnic", metav1.GetOptions{})
		must.Do(t, err)
		right, _, _ := unstructured.NestedInt64(picnic.Object, "status", "copies")
		got := fmt.Sprintf("%v %d refused, %d right, cache changed: %t", writes, refused, right, changed)
		if got != want {
			t.Fatalf("got\n%s, want\n%s", got, want)
		}
	}
}

// Whether somebody saw the delete, or a list lacks the copy: its notice is looked at. Other
// ConfigMaps are not for the controller, whichever way they go.
func TestACopyThatIsGoneBringsItsNoticeBack(t *testing.T) {
	c := &controller{queue: workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())}
	defer c.queue.ShutDown()
	foreign := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "picnic-0"}}
	made := foreign.DeepCopy()
	made.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(
		&metav1.ObjectMeta{Name: "picnic"}, Resource.GroupVersion().WithKind(Kind))}
	for _, gone := range []any{made, cache.DeletedFinalStateUnknown{Key: "ns/picnic-0", Obj: made}} {
		if ownerOf(gone) == nil {
			t.Errorf("the filter drops %T of a copy", gone)
			continue
		}
		c.enqueueOwner(gone)
		key, _ := c.queue.Get()
		c.queue.Done(key)
		expect.That(t, key == "ns/picnic", "the queue has %q, want %q", key, "ns/picnic")
	}
	for _, gone := range []any{foreign, cache.DeletedFinalStateUnknown{Key: "ns/picnic-0", Obj: foreign}} {
		owner := ownerOf(gone)
		expect.That(t, owner == nil, "%T of another ConfigMap belongs to %v", gone, owner)
	}
}

// Whatever became of a key: when it is added again, a worker can have it.
func TestAKeyCanComeAgain(t *testing.T) {
	notices := cache.NewStore(cache.MetaNamespaceKeyFunc)
	r, client, _ := newFake(notices, cache.NewIndexer(cache.MetaNamespaceKeyFunc, Indexers))
	picnic, err := r.Resource.Get(t.Context(), "picnic", metav1.GetOptions{})
	must.Do(t, err)
	must.Do(t, notices.Add(picnic))
	failures := 2 // then it succeeds
	client.PrependReactor("create", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
		failures--
		return failures >= 0, nil, errors.New("out of luck")
	})
	c := &controller{
		Reconciler: *r,
		queue:      workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]()),
	}
	defer c.queue.ShutDown()
	for try := range 4 {
		c.queue.Add("ns/picnic")
		if c.queue.Len() != 1 {
			t.Fatalf("try %d: the key was added, and the queue has no key to give", try+1)
		}
		c.processNext(t.Context())
	}
}

// Three creates fail. The controller tries again by itself, and the test takes no time.
func TestTheControllerInFakeTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, client, dynamicClient := newFake(nil, nil)
		failures := 3
		client.PrependReactor("create", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
			if failures--; failures < 0 {
				return false, nil, nil
			}
			return true, nil, errors.New("out of luck")
		})
		configMaps := client.CoreV1().ConfigMaps("ns")
		notices := cache.NewSharedIndexInformerWithOptions(listWatch(r.Resource, dynamicClient),
			&unstructured.Unstructured{}, cache.SharedIndexInformerOptions{})
		copies := cache.NewSharedIndexInformerWithOptions(cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
				return configMaps.List(ctx, options)
			},
			WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
				return configMaps.Watch(ctx, options)
			},
		}, client), &corev1.ConfigMap{}, cache.SharedIndexInformerOptions{Indexers: Indexers})
		r.Notices, r.Copies = notices.GetStore(), copies.GetIndexer()
		c := &controller{
			Reconciler: *r,
			queue:      workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]()),
		}
		began := time.Now()
		stop := must.Run(t, func(ctx context.Context) { must.Do(t, c.run(ctx, notices, copies)) })
		for len(copies.GetStore().List()) == 0 && time.Since(began) < time.Minute {
			time.Sleep(time.Millisecond)
		}
		took := time.Since(began)
		stop()
		expect.That(t, took >= 10*time.Millisecond && took <= time.Second,
			"the copy was there after %v, want some milliseconds: the pauses of the queue", took)
	})
}
