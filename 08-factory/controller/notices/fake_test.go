// The controller on fake clients: Reconcile by itself, the handlers and the queue, and the whole
// controller in fake time.

package notices

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/watch"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"

	"example.com/informer/scripts/harness/must"
)

// A fixture is a Reconciler on fake clients, with empty caches. The dynamic client has the notice
// picnic, which wants one copy.
type fixture struct {
	*Reconciler
	client        *fake.Clientset
	dynamicClient *dynamicfake.FakeDynamicClient
	picnic        *unstructured.Unstructured // as the dynamic client has it
}

func newFixture() fixture {
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
	r := &Reconciler{
		Client:   client,
		Resource: dynamicClient.Resource(Resource).Namespace("ns"),
		Notices:  cache.NewStore(cache.MetaNamespaceKeyFunc),
		Copies:   cache.NewIndexer(cache.MetaNamespaceKeyFunc, Indexers),
		Recorder: events.NewFakeRecorder(10),
	}
	return fixture{Reconciler: r, client: client, dynamicClient: dynamicClient, picnic: picnic}
}

// statusOf returns the status of a notice as a line of text.
func statusOf(t *testing.T, obj *unstructured.Unstructured) string {
	t.Helper()
	var n notice
	must.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, &n))
	if len(n.Status.Conditions) != 1 {
		t.Fatalf("the status has %d conditions, want 1: %v", len(n.Status.Conditions), n.Status.Conditions)
	}
	ready := n.Status.Conditions[0]
	return fmt.Sprintf("%d: %d copies, %s is %s: %s", n.Status.ObservedGeneration, n.Status.Copies,
		ready.Type, ready.Status, ready.Reason)
}

// isBehind reports whether all errors of a Reconcile say that the cache was behind.
func isBehind(err error) bool {
	return err != nil && utilerrors.FilterOut(err, apierrors.IsConflict, apierrors.IsAlreadyExists) == nil
}

func TestReconcile(t *testing.T) {
	f := newFixture()
	must.NoError(t, f.Notices.Add(f.picnic)) // no informers run: the test fills the caches

	must.NoError(t, f.Reconcile(t.Context(), "ns/picnic"))
	made, err := f.client.CoreV1().ConfigMaps("ns").Get(t.Context(), "picnic-0", metav1.GetOptions{})
	must.NoError(t, err)
	if !metav1.IsControlledBy(made, f.picnic) {
		t.Errorf("the copy has the owners %v, want the notice as its controller", made.OwnerReferences)
	}
	if made.Data["text"] != "on Sunday" {
		t.Errorf("the copy has the text %q, want %q", made.Data["text"], "on Sunday")
	}
	// The cache does not have the copy yet. The fixed name keeps Reconcile from making a second one.
	if err := f.Reconcile(t.Context(), "ns/picnic"); !isBehind(err) {
		t.Errorf("the cache is behind, and Reconcile returns %v, want AlreadyExists", err)
	}
	must.NoError(t, f.Copies.Add(made))
	must.NoError(t, f.Reconcile(t.Context(), "ns/picnic"))
	now, err := f.Resource.Get(t.Context(), "picnic", metav1.GetOptions{})
	must.NoError(t, err)
	if got, want := statusOf(t, now), "7: 1 copies, Ready is True: Written"; got != want {
		t.Errorf("the status is %q, want %q", got, want)
	}

	changed := made.DeepCopy()
	changed.Data["text"] = "cancelled"
	must.NoError(t, f.Copies.Update(changed))
	f.client.PrependReactor("update", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewConflict(corev1.Resource("configmaps"), "picnic-0", errors.New("too late"))
	})
	for range 2 { // Reconcile must not change the cached object, so that the second call sees the same difference
		if err := f.Reconcile(t.Context(), "ns/picnic"); !isBehind(err) {
			t.Errorf("the copy on the server is still wrong, and Reconcile returns %v, want a conflict", err)
		}
	}
	must.NoError(t, f.Reconcile(t.Context(), "ns/no-such-notice"))
}

// A deleted copy adds the key of its notice to the queue. The handler gets the copy, or a tombstone
// if the informer has missed the delete. It is the same if the notice is another one of this name by
// now: it can make its own copy. The filter drops ConfigMaps that are not copies, in both forms.
func TestACopyThatIsGoneBringsItsNoticeBack(t *testing.T) {
	f := newFixture()
	must.NoError(t, f.Notices.Add(&metav1.PartialObjectMetadata{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "picnic", UID: "of another picnic"}}))
	c := newController(f.Reconciler)
	defer c.queue.ShutDown()
	foreign := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "picnic-0"}}
	made := foreign.DeepCopy()
	made.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(
		&metav1.ObjectMeta{Name: "picnic", UID: "of picnic"}, Resource.GroupVersion().WithKind(Kind))}
	for _, gone := range []any{made, cache.DeletedFinalStateUnknown{Key: "ns/picnic-0", Obj: made}} {
		if ownerOf(gone) == nil {
			t.Errorf("the filter drops %T of a copy", gone)
			continue
		}
		c.enqueueOwner(gone)
		if c.queue.Len() == 0 {
			t.Errorf("%T of a copy adds no key, want the key of its notice, or of the next one of this name", gone)
			continue
		}
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

// The group and the kind of an owner say that it is a notice. The version does not matter: a copy
// keeps the version of the API with which it was made.
func TestOwnerOf(t *testing.T) {
	for _, test := range []struct {
		apiVersion, kind string
		isNotice         bool
	}{
		{apiVersion: "example.com/v1", kind: "Notice", isNotice: true},
		{apiVersion: "example.com/v1alpha1", kind: "Notice", isNotice: true},
		{apiVersion: "example.org/v1", kind: "Notice"},
		{apiVersion: "v1", kind: "Notice"},
		{apiVersion: "example.com/v1", kind: "Poster"},
	} {
		owned := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{
			{APIVersion: test.apiVersion, Kind: test.kind, Name: "picnic", Controller: new(true)},
		}}}
		if got := ownerOf(owned) != nil; got != test.isNotice {
			t.Errorf("%s %s counts as a notice: %t, want %t", test.apiVersion, test.kind, got, test.isNotice)
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
	f := newFixture()
	must.NoError(t, f.Notices.Add(f.picnic))
	failCreates(f.client, 2)
	c := newController(f.Reconciler)
	defer c.queue.ShutDown()
	for try := range 4 {
		c.queue.Add("ns/picnic")
		if c.queue.Len() != 1 {
			t.Fatalf("try %d: the key was added, and the queue has no key to give", try+1)
		}
		c.processNext(t.Context())
	}
}

// run runs the whole controller, with caches of informers. It returns the informer of ConfigMaps.
func (f fixture) run(t *testing.T) cache.SharedIndexInformer {
	configMaps := f.client.CoreV1().ConfigMaps("ns")
	notices := cache.NewSharedIndexInformerWithOptions(listWatch(f.Resource, f.dynamicClient),
		&unstructured.Unstructured{}, cache.SharedIndexInformerOptions{})
	copies := cache.NewSharedIndexInformerWithOptions(cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return configMaps.List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return configMaps.Watch(ctx, options)
		},
	}, f.client), &corev1.ConfigMap{}, cache.SharedIndexInformerOptions{Indexers: Indexers})
	f.Notices, f.Copies = notices.GetStore(), copies.GetIndexer()
	c := newController(f.Reconciler)
	must.Run(t, func(ctx context.Context) { must.NoError(t, c.run(ctx, notices, copies)) })
	return copies
}

// newController returns a controller with an empty queue.
func newController(r *Reconciler) *controller {
	return &controller{
		Reconciler: *r,
		queue:      workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]()),
		workers:    2,
	}
}

// Ten creates fail: each pause is longer than the one before. After a success, the next failure
// counts as the first. It is the same if the error says that the cache is behind, because a cache
// can be behind for long.
func TestThePausesGrowAndBeginAnew(t *testing.T) {
	configMaps := corev1.Resource("configmaps")
	for name, refusal := range map[string]error{
		"any error":     errors.New("out of luck"),
		"AlreadyExists": apierrors.NewAlreadyExists(configMaps, "picnic-0"),
		"Conflict":      apierrors.NewConflict(configMaps, "picnic-0", errors.New("too late")),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { wantPausesThatGrow(t, refusal) })
		})
	}
}

// wantPausesThatGrow runs a controller whose creates fail with this error, ten times and once more
// after a success.
func wantPausesThatGrow(t *testing.T, refusal error) {
	f := newFixture()
	var tries []time.Time
	f.client.PrependReactor("create", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
		tries = append(tries, time.Now())
		if len(tries) <= 10 || len(tries) == 12 { // the 11th and the 13th succeed
			return true, nil, refusal
		}
		return false, nil, nil
	})
	f.dynamicClient.PrependReactor("update", "notices", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, nil // writes no status: its event would add the key
	})
	copies := f.run(t)
	time.Sleep(time.Minute)
	synctest.Wait()
	if len(tries) != 11 {
		t.Fatalf("there were %d tries in a minute, want 11", len(tries))
	}
	var pauses []time.Duration
	for i := range 10 {
		pauses = append(pauses, tries[i+1].Sub(tries[i]))
	}
	for i, pause := range pauses[1:] {
		if pause <= pauses[i] {
			t.Fatalf("after %q, the pauses are %v, want each of them longer than the one before", refusal, pauses)
		}
	}
	must.NoError(t, f.client.CoreV1().ConfigMaps("ns").Delete(t.Context(), "picnic-0", metav1.DeleteOptions{}))
	time.Sleep(time.Minute)
	synctest.Wait()
	if len(copies.GetStore().List()) != 1 || len(tries) != 13 {
		t.Fatalf("there are %d copies after %d tries, want 1 after 13", len(copies.GetStore().List()), len(tries))
	}
	if pause := tries[12].Sub(tries[11]); pause > pauses[0] {
		t.Errorf("after a success, the first pause is %v, want %v", pause, pauses[0])
	}
}

// Three creates fail. The controller tries again by itself, after the pauses of the queue.
func TestTheControllerInFakeTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		failCreates(f.client, 3)
		began := time.Now()
		copies := f.run(t)
		for len(copies.GetStore().List()) == 0 && time.Since(began) < time.Minute {
			time.Sleep(time.Millisecond)
		}
		if took := time.Since(began); took < 10*time.Millisecond || took > time.Second {
			t.Errorf("the copy was there after %v, want some milliseconds: the pauses of the queue", took)
		}
	})
}
