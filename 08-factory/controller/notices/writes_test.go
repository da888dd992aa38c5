// Which writes Reconcile makes, and what it makes of their errors.

package notices

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"

	"example.com/informer/scripts/harness/must"
)

// The notice wants five copies. picnic-1 is right, picnic-3 has a key too many, and three are missing.
// picnic-9 is surplus. At first, Reconcile only adds the finalizer. Then it makes all writes, although
// the server refuses some of them, and returns all errors. When somebody else has taken the name
// picnic-2, that is no error: it is in the status.
func TestReconcileWritesWhatItCan(t *testing.T) {
	notices := cache.NewStore(cache.MetaNamespaceKeyFunc)
	copies := cache.NewIndexer(cache.MetaNamespaceKeyFunc, Indexers)
	r, client, dynamicClient := newFake(notices, copies)
	picnic, err := r.Resource.Get(t.Context(), "picnic", metav1.GetOptions{})
	must.NoError(t, err)
	picnic.SetFinalizers([]string{"example.com/somebody"})
	must.NoError(t, unstructured.SetNestedField(picnic.Object, int64(5), "spec", "copies"))
	_, err = r.Resource.Update(t.Context(), picnic, metav1.UpdateOptions{})
	must.NoError(t, err)
	taken := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "picnic-2"}}
	newCopy(t, picnic, copies, "picnic-1")
	newCopy(t, picnic, copies, "picnic-3").Data["place"] = "the park"
	newCopy(t, picnic, copies, "picnic-9")
	for _, obj := range copies.List() {
		must.NoError(t, client.Tracker().Add(obj.(*corev1.ConfigMap)))
	}
	var refused []string // the resources whose writes the server refuses
	errRefused := errors.New("out of luck")
	refuse := func(a clienttesting.Action) (bool, runtime.Object, error) {
		return slices.Contains(refused, a.GetResource().Resource), nil, errRefused
	}
	client.PrependReactor("*", "configmaps", refuse)
	dynamicClient.PrependReactor("update", "notices", refuse)
	for _, round := range []struct {
		name        string
		taken       bool // the name picnic-2
		refused     []string
		wantWrites  []string
		wantRefused int // how many errors Reconcile returns
	}{
		{
			name:        "the finalizer is refused",
			refused:     []string{"notices"},
			wantWrites:  []string{"update notices"},
			wantRefused: 1,
		},
		{
			name:       "the finalizer",
			wantWrites: []string{"update notices"},
		},
		{
			name:    "the copies and the status are refused",
			refused: []string{"configmaps", "notices"},
			wantWrites: []string{
				"create configmaps",
				"create configmaps",
				"create configmaps",
				"delete configmaps",
				"update configmaps",
				"update notices/status",
			},
			wantRefused: 6,
		},
		{
			name:    "a name is taken, and the other copies are refused",
			taken:   true,
			refused: []string{"configmaps"},
			wantWrites: []string{
				"create configmaps",
				"create configmaps",
				"delete configmaps",
				"update configmaps",
				"update notices/status",
			},
			wantRefused: 4,
		},
		{
			name:  "a name is taken", // the cache does not have the other copies yet: the status stays as it is
			taken: true,
			wantWrites: []string{
				"create configmaps",
				"create configmaps",
				"delete configmaps",
				"update configmaps",
			},
		},
	} {
		if round.taken {
			must.NoError(t, copies.Add(taken))
		}
		picnic, err = r.Resource.Get(t.Context(), "picnic", metav1.GetOptions{})
		must.NoError(t, err)
		must.NoError(t, notices.Add(picnic))
		before := picnic.DeepCopy()
		client.ClearActions()
		dynamicClient.ClearActions()
		refused = round.refused
		var errs []error
		if err := r.Reconcile(t.Context(), "ns/picnic"); err != nil {
			errs = []error{err}
			if all, ok := err.(utilerrors.Aggregate); ok {
				errs = utilerrors.Flatten(all).Errors()
			}
		}
		list := ""
		for i, err := range errs {
			list += fmt.Sprintf("\n%d. %v", i+1, err)
			if !errors.Is(err, errRefused) {
				t.Errorf("%s: Reconcile returns the error %v, which does not wrap %v", round.name, err, errRefused)
			}
		}
		if len(errs) != round.wantRefused {
			t.Errorf("%s: Reconcile returns %d errors, want %d:%s", round.name, len(errs), round.wantRefused, list)
		}
		if diff := cmp.Diff(before, picnic); diff != "" {
			t.Errorf("%s: Reconcile has changed the cached notice (-before +after):\n%s", round.name, diff)
		}
		writes := requestsOf(append(client.Actions(), dynamicClient.Actions()...))
		if diff := cmp.Diff(round.wantWrites, writes); diff != "" {
			t.Errorf("%s: the writes differ (-want +got):\n%s", round.name, diff)
		}
		if t.Failed() {
			return // the next round needs the result of this one
		}
	}
	if got, want := statusOf(t, picnic), "7: 1 copies, Ready is False: NameTaken"; got != want {
		t.Errorf("the status is %q, want %q", got, want)
	}
	if diff := cmp.Diff([]string{"example.com/somebody", finalizer}, picnic.GetFinalizers()); diff != "" {
		t.Errorf("the finalizers differ (-want +got):\n%s", diff)
	}
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

// newCopy returns a copy of a notice. Its cache has it, too.
func newCopy(t *testing.T, notice *unstructured.Unstructured, copies cache.Store, name string) *corev1.ConfigMap {
	t.Helper()
	made := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       "ns",
			Name:            name,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(notice, notice.GroupVersionKind())},
		},
		Data: map[string]string{"text": "on Sunday"},
	}
	must.NoError(t, copies.Add(made))
	return made
}

// A notice is being deleted. With the finalizer of the garbage collector for orphans, the copies
// stay, and the notice is let go. Without it, the copies are deleted first. A notice that this
// controller has let go of gets nothing more, no matter who holds it.
func TestOrphansStay(t *testing.T) {
	for _, test := range []struct {
		name       string
		finalizers []string
		wantWrites []string
	}{
		{
			name:       "cascade=orphan",
			finalizers: []string{finalizer, metav1.FinalizerOrphanDependents},
			wantWrites: []string{"update notices"},
		},
		{
			name:       "cascade=foreground",
			finalizers: []string{finalizer, metav1.FinalizerDeleteDependents},
			wantWrites: []string{"delete configmaps"},
		},
		{
			name:       "cascade=background",
			finalizers: []string{finalizer},
			wantWrites: []string{"delete configmaps"},
		},
		{
			name:       "let go",
			finalizers: []string{metav1.FinalizerDeleteDependents},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			notices := cache.NewStore(cache.MetaNamespaceKeyFunc)
			copies := cache.NewIndexer(cache.MetaNamespaceKeyFunc, Indexers)
			r, client, dynamicClient := newFake(notices, copies)
			picnic, err := r.Resource.Get(t.Context(), "picnic", metav1.GetOptions{})
			must.NoError(t, err)
			picnic.SetFinalizers(test.finalizers)
			picnic.SetDeletionTimestamp(&metav1.Time{Time: time.Unix(1, 0)})
			must.NoError(t, notices.Add(picnic))
			must.NoError(t, client.Tracker().Add(newCopy(t, picnic, copies, "picnic-0")))
			dynamicClient.ClearActions()
			must.NoError(t, r.Reconcile(t.Context(), "ns/picnic"))
			writes := requestsOf(append(client.Actions(), dynamicClient.Actions()...))
			if diff := cmp.Diff(test.wantWrites, writes); diff != "" {
				t.Errorf("the writes differ (-want +got):\n%s", diff)
			}
		})
	}
}

// After cascade=orphan, the garbage collector has removed the owner references of the copies, and its
// finalizer from the notice. The cache of the copies may be behind the cache of the notices. So a
// delete is only for the state that the cache has: the API server refuses it if there is a newer one.
func TestADeleteIsForTheCachedState(t *testing.T) {
	notices := cache.NewStore(cache.MetaNamespaceKeyFunc)
	copies := cache.NewIndexer(cache.MetaNamespaceKeyFunc, Indexers)
	r, client, _ := newFake(notices, copies)
	picnic, err := r.Resource.Get(t.Context(), "picnic", metav1.GetOptions{})
	must.NoError(t, err)
	picnic.SetDeletionTimestamp(&metav1.Time{Time: time.Unix(1, 0)})
	must.NoError(t, notices.Add(picnic))
	stale := newCopy(t, picnic, copies, "picnic-0")
	stale.UID, stale.ResourceVersion = "its UID", "7"
	must.NoError(t, client.Tracker().Add(stale))
	must.NoError(t, r.Reconcile(t.Context(), "ns/picnic"))
	if n := len(client.Actions()); n != 1 {
		t.Fatalf("Reconcile has sent %d requests for ConfigMaps, want a delete: %v", n, client.Actions())
	}
	want := &metav1.Preconditions{UID: &stale.UID, ResourceVersion: &stale.ResourceVersion}
	options := client.Actions()[0].(clienttesting.DeleteActionImpl).GetDeleteOptions()
	if diff := cmp.Diff(want, options.Preconditions); diff != "" {
		t.Errorf("the preconditions of the delete differ (-want +got):\n%s", diff)
	}
}

// A notice is being deleted, and the server refuses the deletes of its copies. Reconcile tries all
// of them, and keeps the finalizer.
func TestFinalizeDeletesWhatItCan(t *testing.T) {
	notices := cache.NewStore(cache.MetaNamespaceKeyFunc)
	copies := cache.NewIndexer(cache.MetaNamespaceKeyFunc, Indexers)
	r, client, dynamicClient := newFake(notices, copies)
	picnic, err := r.Resource.Get(t.Context(), "picnic", metav1.GetOptions{})
	must.NoError(t, err)
	picnic.SetDeletionTimestamp(&metav1.Time{Time: time.Unix(1, 0)})
	must.NoError(t, notices.Add(picnic))
	newCopy(t, picnic, copies, "picnic-0")
	newCopy(t, picnic, copies, "picnic-1")
	errRefused := errors.New("out of luck")
	client.PrependReactor("delete", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, errRefused
	})
	dynamicClient.ClearActions()
	if err := r.Reconcile(t.Context(), "ns/picnic"); !errors.Is(err, errRefused) {
		t.Errorf("Reconcile returns %v, want %v", err, errRefused)
	}
	writes := requestsOf(append(client.Actions(), dynamicClient.Actions()...))
	if diff := cmp.Diff([]string{"delete configmaps", "delete configmaps"}, writes); diff != "" {
		t.Errorf("the writes differ (-want +got):\n%s", diff)
	}
}

// The API server does not accept a copy that is new or changed. The next try would end in the same
// way: Reconcile returns no error, the status says why, and there is one Event, although Reconcile is
// called again, and again after a change of the spec.
func TestAnInvalidCopyIsNotTriedForever(t *testing.T) {
	for _, verb := range []string{"create", "update"} {
		t.Run(verb, func(t *testing.T) {
			notices := cache.NewStore(cache.MetaNamespaceKeyFunc)
			copies := cache.NewIndexer(cache.MetaNamespaceKeyFunc, Indexers)
			r, client, _ := newFake(notices, copies)
			client.PrependReactor(verb, "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
				return true, nil, apierrors.NewInvalid(schema.GroupKind{Kind: "ConfigMap"}, "picnic-0", nil)
			})
			for _, generation := range []int64{7, 7, 8} {
				picnic, err := r.Resource.Get(t.Context(), "picnic", metav1.GetOptions{})
				must.NoError(t, err)
				picnic.SetGeneration(generation)
				must.NoError(t, notices.Add(picnic))
				if verb == "update" {
					newCopy(t, picnic, copies, "picnic-0").Data["text"] = "cancelled"
				}
				must.NoError(t, r.Reconcile(t.Context(), "ns/picnic"))
			}
			picnic, err := r.Resource.Get(t.Context(), "picnic", metav1.GetOptions{})
			must.NoError(t, err)
			if got, want := statusOf(t, picnic), "8: 0 copies, Ready is False: Invalid"; got != want {
				t.Errorf("the status is %q, want %q", got, want)
			}
			recorded := r.Recorder.(*events.FakeRecorder).Events
			if len(recorded) != 1 {
				t.Fatalf("there are %d Events, want 1", len(recorded))
			}
			want := "Warning Invalid the copy picnic-0 is refused: "
			if event := <-recorded; !strings.HasPrefix(event, want) {
				t.Errorf("the Event is %q, want %q and the reason", event, want)
			}
		})
	}
}

// A ConfigMap of somebody else has the name of the copy, for an hour. When it is deleted, the
// controller makes the copy soon: the pause after an error, which would be long by now, does not
// count.
func TestANameThatIsFreeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, client, dynamicClient := newFake(nil, nil)
		taken := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "picnic-0"}}
		must.NoError(t, client.Tracker().Add(taken))
		copies := runFake(t, r, client, dynamicClient)
		time.Sleep(time.Hour)
		picnic, err := r.Resource.Get(t.Context(), "picnic", metav1.GetOptions{})
		must.NoError(t, err)
		if got, want := statusOf(t, picnic), "7: 0 copies, Ready is False: NameTaken"; got != want {
			t.Errorf("the status is %q, want %q", got, want)
		}
		must.NoError(t, client.CoreV1().ConfigMaps("ns").Delete(t.Context(), "picnic-0", metav1.DeleteOptions{}))
		free := time.Now()
		isCopy := func(obj any) bool { return ownerOf(obj) != nil }
		for !slices.ContainsFunc(copies.GetStore().List(), isCopy) && time.Since(free) < time.Hour {
			time.Sleep(time.Millisecond)
		}
		if took := time.Since(free); took > time.Second {
			t.Errorf("the copy was there %v after its name was free, want at most a second", took)
		}
	})
}

// One copy meets a conflict, which is no error in the log. The error of the other copy is.
func TestAConflictHidesNoOtherError(t *testing.T) {
	notices := cache.NewStore(cache.MetaNamespaceKeyFunc)
	copies := cache.NewIndexer(cache.MetaNamespaceKeyFunc, Indexers)
	r, client, _ := newFake(notices, copies)
	picnic, err := r.Resource.Get(t.Context(), "picnic", metav1.GetOptions{})
	must.NoError(t, err)
	must.NoError(t, unstructured.SetNestedField(picnic.Object, int64(2), "spec", "copies"))
	must.NoError(t, notices.Add(picnic))
	newCopy(t, picnic, copies, "picnic-0").Data = nil
	failCreates(client, 1)
	client.PrependReactor("update", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewConflict(corev1.Resource("configmaps"), "picnic-0", errors.New("too late"))
	})
	var logged []string
	logger := funcr.New(func(_, args string) { logged = append(logged, args) }, funcr.Options{})
	c := newController(r)
	defer c.queue.ShutDown()
	c.queue.Add("ns/picnic")
	c.processNext(klog.NewContext(t.Context(), logger))
	log := fmt.Sprint(logged)
	if !strings.Contains(log, "out of luck") {
		t.Errorf("the log is %s, want the error of the create in it: out of luck", log)
	}
	if strings.Contains(log, "too late") {
		t.Errorf("the log is %s, want no conflict in it", log)
	}
}

// A config without limits gets some for each worker. The limits of a config that has some stay.
func TestTheLimitsGrowWithTheWorkers(t *testing.T) {
	two, four := withLimits(&rest.Config{}, 2), withLimits(&rest.Config{}, 4)
	if two.QPS != 100 || four.QPS != 2*two.QPS || four.Burst != 2*two.Burst {
		t.Errorf("two workers have %v requests a second and a burst of %d, four have %v and %d, "+
			"want 100 and twice as many",
			two.QPS, two.Burst, four.QPS, four.Burst)
	}
	if own := withLimits(&rest.Config{QPS: 5}, 2); own.QPS != 5 {
		t.Errorf("a config with 5 requests a second gets %v", own.QPS)
	}
}
