// The controller on fake clients: Reconcile by itself, the handlers and the queue, and the whole
// controller in fake time.

package notices

import (
	"context"
	"errors"
	"maps"
	"path"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
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

	"example.com/informer/scripts/harness/must"
)

// newFake returns a Reconciler on fake clients. The dynamic client has one notice, which wants one
// copy.
func newFake(notices cache.Store, copies cache.Indexer) (*Reconciler, *fake.Clientset, *dynamicfake.FakeDynamicClient) {
	picnic := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": Resource.GroupVersion().String(),
		"kind":       Kind,
		"metadata": map[string]any{
			"namespace":  "ns",
			"name":       "picnic",
			"uid":        "1",
			"generation": int64(7),
			"finalizers": []any{finalizer},
		},
		"spec": map[string]any{"text": "on Sunday", "copies": int64(1)},
	}}
	client := fake.NewClientset()
	dynamicClient := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
		map[schema.GroupVersionResource]string{Resource: "NoticeList"}, picnic)
	return &Reconciler{
		Client:   client,
		Resource: dynamicClient.Resource(Resource).Namespace("ns"),
		Notices:  notices,
		Copies:   copies,
		Recorder: events.NewFakeRecorder(10),
	}, client, dynamicClient
}

func TestReconcile(t *testing.T) {
	notices := cache.NewStore(cache.MetaNamespaceKeyFunc)
	copies := cache.NewIndexer(cache.MetaNamespaceKeyFunc, Indexers)
	r, client, _ := newFake(notices, copies)
	picnic, err := r.Resource.Get(t.Context(), "picnic", metav1.GetOptions{})
	must.Do(t, err)
	must.Do(t, notices.Add(picnic)) // no informers run: the test fills the caches

	must.Do(t, r.Reconcile(t.Context(), "ns/picnic"))
	made, err := client.CoreV1().ConfigMaps("ns").Get(t.Context(), "picnic-0", metav1.GetOptions{})
	must.Do(t, err)
	if !metav1.IsControlledBy(made, picnic) {
		t.Errorf("the copy has the owners %v, want the notice as its controller", made.OwnerReferences)
	}
	if made.Data["text"] != "on Sunday" {
		t.Errorf("the copy has the text %q, want %q", made.Data["text"], "on Sunday")
	}
	must.Do(t, r.Reconcile(t.Context(), "ns/picnic")) // the cache does not have the copy yet: this is no error
	must.Do(t, copies.Add(made))
	must.Do(t, r.Reconcile(t.Context(), "ns/picnic"))
	now, err := r.Resource.Get(t.Context(), "picnic", metav1.GetOptions{})
	must.Do(t, err)
	got, _, _ := unstructured.NestedMap(now.Object, "status")
	if want := map[string]any{"copies": int64(1), "observedGeneration": int64(7)}; !maps.Equal(got, want) {
		t.Errorf("the status is %v, want %v", got, want)
	}

	changed := made.DeepCopy()
	changed.Data["text"] = "cancelled"
	must.Do(t, copies.Update(changed))
	client.PrependReactor("update", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewConflict(corev1.Resource("configmaps"), "picnic-0", errors.New("too late"))
	})
	for range 2 { // Reconcile must not change the cached object, so that the second call sees the same difference
		if err := r.Reconcile(t.Context(), "ns/picnic"); !apierrors.IsConflict(err) {
			t.Errorf("the copy on the server is still wrong, and Reconcile returns %v, want a conflict", err)
		}
	}
	must.Do(t, r.Reconcile(t.Context(), "ns/no-such-notice"))
}

// The notice wants three copies. One of them exists, and there is one ConfigMap too many. The
// server refuses each write of a ConfigMap. The first call of Reconcile only adds the finalizer.
// The second call makes all writes, although they fail.
func TestReconcileWritesWhatItCan(t *testing.T) {
	notices := cache.NewStore(cache.MetaNamespaceKeyFunc)
	copies := cache.NewIndexer(cache.MetaNamespaceKeyFunc, Indexers)
	r, client, dynamicClient := newFake(notices, copies)
	picnic, err := r.Resource.Get(t.Context(), "picnic", metav1.GetOptions{})
	must.Do(t, err)
	picnic.SetFinalizers(nil)
	must.Do(t, unstructured.SetNestedField(picnic.Object, int64(3), "spec", "copies"))
	owner := *metav1.NewControllerRef(picnic, Resource.GroupVersion().WithKind(Kind))
	for _, name := range []string{"picnic-1", "picnic-9"} {
		must.Do(t, copies.Add(&corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: []metav1.OwnerReference{owner}},
			Data:       map[string]string{"text": "on Sunday"},
		}))
	}
	errRefused := errors.New("out of luck")
	client.PrependReactor("*", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, errRefused
	})
	for _, round := range []struct {
		name        string
		wantWrites  []string
		wantRefused int   // how many errors Reconcile returns
		wantCopies  int64 // of the status
	}{
		{
			name:       "the finalizer",
			wantWrites: []string{"update notices"},
		},
		{
			name: "the copies and the status",
			wantWrites: []string{
				"create configmaps",
				"create configmaps",
				"delete configmaps",
				"update notices/status",
			},
			wantRefused: 3,
			wantCopies:  1,
		},
	} {
		must.Do(t, notices.Add(picnic))
		before := picnic.DeepCopy()
		client.ClearActions()
		dynamicClient.ClearActions()
		errs := joinedErrors(r.Reconcile(t.Context(), "ns/picnic"))
		for _, err := range errs {
			if !errors.Is(err, errRefused) {
				t.Errorf("%s: Reconcile returns the error %v, which does not wrap %v", round.name, err, errRefused)
			}
		}
		if len(errs) != round.wantRefused {
			t.Errorf("%s: Reconcile returns %d errors, want %d: %v", round.name, len(errs), round.wantRefused, errs)
		}
		if diff := cmp.Diff(before, picnic); diff != "" {
			t.Errorf("%s: Reconcile has changed the cached notice (-before +after):\n%s", round.name, diff)
		}
		writes := requestsOf(append(client.Actions(), dynamicClient.Actions()...))
		if diff := cmp.Diff(round.wantWrites, writes); diff != "" {
			t.Errorf("%s: the writes differ (-want +got):\n%s", round.name, diff)
		}
		picnic, err = r.Resource.Get(t.Context(), "picnic", metav1.GetOptions{})
		must.Do(t, err)
		if got, _, _ := unstructured.NestedInt64(picnic.Object, "status", "copies"); got != round.wantCopies {
			t.Errorf("%s: the status has %d copies, want %d", round.name, got, round.wantCopies)
		}
		if t.Failed() {
			return // the second round needs the result of the first
		}
	}
}

// joinedErrors returns the errors that errors.Join has joined.
func joinedErrors(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	if err != nil {
		return []error{err}
	}
	return nil
}

// requestsOf returns requests such as "update notices/status", sorted.
func requestsOf(actions []clienttesting.Action) []string {
	var requests []string
	for _, a := range actions {
		resource := path.Join(a.GetResource().Resource, a.GetSubresource())
		requests = append(requests, a.GetVerb()+" "+resource)
	}
	slices.Sort(requests)
	return requests
}

// A deleted copy adds the key of its notice to the queue. The handler gets the copy, or a tombstone
// if the informer has missed the delete. The filter drops ConfigMaps that are not copies, in both
// forms.
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
		if key != "ns/picnic" {
			t.Errorf("the queue has %q, want %q", key, "ns/picnic")
		}
		c.queue.Done(key)
	}
	for _, gone := range []any{foreign, cache.DeletedFinalStateUnknown{Key: "ns/picnic-0", Obj: foreign}} {
		if owner := ownerOf(gone); owner != nil {
			t.Errorf("ownerOf(%T of a ConfigMap that is not a copy) = %v, want nil", gone, owner)
		}
	}
}

// failCreates lets the next creates of ConfigMaps fail, n of them.
func failCreates(client *fake.Clientset, n int) {
	client.PrependReactor("create", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
		if n == 0 {
			return false, nil, nil // the next reactor creates the ConfigMap
		}
		n--
		return true, nil, errors.New("out of luck")
	})
}

// A worker can get a key that is added again, no matter whether its last Reconcile has succeeded or
// failed.
func TestAKeyCanComeAgain(t *testing.T) {
	notices := cache.NewStore(cache.MetaNamespaceKeyFunc)
	r, client, _ := newFake(notices, cache.NewIndexer(cache.MetaNamespaceKeyFunc, Indexers))
	picnic, err := r.Resource.Get(t.Context(), "picnic", metav1.GetOptions{})
	must.Do(t, err)
	must.Do(t, notices.Add(picnic))
	failCreates(client, 2)
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

// Three creates fail. The controller tries again by itself, after the pauses of the queue.
func TestTheControllerInFakeTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, client, dynamicClient := newFake(nil, nil)
		failCreates(client, 3)
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
		if took < 10*time.Millisecond || took > time.Second {
			t.Errorf("the copy was there after %v, want some milliseconds: the pauses of the queue", took)
		}
	})
}
