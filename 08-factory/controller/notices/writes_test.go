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
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"

	"example.com/informer/scripts/harness/must"
)

// The notice wants five copies. picnic-1 is right, picnic-3 has a key too many, and three are missing.
// picnic-9 is surplus. At first, Reconcile only adds the finalizer. Then it makes all writes, although
// the server refuses some of them, and returns all errors. When somebody else has taken the name
// picnic-2, that is not an error: it is in the status.
func TestReconcileWritesWhatItCan(t *testing.T) {
	f := newFixture()
	picnic := f.picnic
	picnic.SetFinalizers([]string{"example.com/somebody"})
	must.NoError(t, unstructured.SetNestedField(picnic.Object, int64(5), "spec", "copies"))
	_, err := f.Resource.Update(t.Context(), picnic, metav1.UpdateOptions{})
	must.NoError(t, err)
	taken := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "picnic-2"}}
	f.newCopy(t, "picnic-1")
	f.newCopy(t, "picnic-3").Data["place"] = "the park"
	f.newCopy(t, "picnic-9")
	for _, obj := range f.Copies.List() {
		must.NoError(t, f.client.Tracker().Add(obj.(*corev1.ConfigMap)))
	}
	var refused []string // the resources whose writes the server refuses
	errRefused := errors.New("out of luck")
	refuse := func(a clienttesting.Action) (bool, runtime.Object, error) {
		return slices.Contains(refused, a.GetResource().Resource), nil, errRefused
	}
	f.client.PrependReactor("*", "configmaps", refuse)
	f.dynamicClient.PrependReactor("update", "notices", refuse)
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
			must.NoError(t, f.Copies.Add(taken))
		}
		picnic, err = f.Resource.Get(t.Context(), "picnic", metav1.GetOptions{})
		must.NoError(t, err)
		must.NoError(t, f.Notices.Add(picnic))
		before := picnic.DeepCopy()
		f.client.ClearActions()
		f.dynamicClient.ClearActions()
		refused = round.refused
		var errs []error
		if err := f.Reconcile(t.Context(), "ns/picnic"); err != nil {
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
		writes := f.requests()
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

// requests returns the requests to both clients, such as "update notices/status", sorted.
func (f fixture) requests() []string {
	var requests []string
	for _, a := range append(f.client.Actions(), f.dynamicClient.Actions()...) {
		resource := path.Join(a.GetResource().Resource, a.GetSubresource())
		requests = append(requests, a.GetVerb()+" "+resource)
	}
	slices.Sort(requests)
	return requests
}

// newCopy returns a copy of the notice. The cache has it, too.
func (f fixture) newCopy(t *testing.T, name string) *corev1.ConfigMap {
	t.Helper()
	made := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       "ns",
			Name:            name,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(f.picnic, f.picnic.GroupVersionKind())},
		},
		Data: map[string]string{"text": "on Sunday"},
	}
	must.NoError(t, f.Copies.Add(made))
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
			f := newFixture()
			f.picnic.SetFinalizers(test.finalizers)
			f.picnic.SetDeletionTimestamp(&metav1.Time{Time: time.Unix(1, 0)})
			must.NoError(t, f.Notices.Add(f.picnic))
			must.NoError(t, f.client.Tracker().Add(f.newCopy(t, "picnic-0")))
			must.NoError(t, f.Reconcile(t.Context(), "ns/picnic"))
			writes := f.requests()
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
	f := newFixture()
	f.picnic.SetDeletionTimestamp(&metav1.Time{Time: time.Unix(1, 0)})
	must.NoError(t, f.Notices.Add(f.picnic))
	stale := f.newCopy(t, "picnic-0")
	stale.UID, stale.ResourceVersion = "its UID", "7"
	must.NoError(t, f.client.Tracker().Add(stale))
	must.NoError(t, f.Reconcile(t.Context(), "ns/picnic"))
	if n := len(f.client.Actions()); n != 1 {
		t.Fatalf("Reconcile has sent %d requests for ConfigMaps, want a delete: %v", n, f.client.Actions())
	}
	want := &metav1.Preconditions{UID: &stale.UID, ResourceVersion: &stale.ResourceVersion}
	options := f.client.Actions()[0].(clienttesting.DeleteActionImpl).GetDeleteOptions()
	if diff := cmp.Diff(want, options.Preconditions); diff != "" {
		t.Errorf("the preconditions of the delete differ (-want +got):\n%s", diff)
	}
}

// A notice is being deleted, and the server refuses the deletes of its copies. Reconcile tries all
// of them, and keeps the finalizer.
func TestFinalizeDeletesWhatItCan(t *testing.T) {
	f := newFixture()
	f.picnic.SetDeletionTimestamp(&metav1.Time{Time: time.Unix(1, 0)})
	must.NoError(t, f.Notices.Add(f.picnic))
	f.newCopy(t, "picnic-0")
	f.newCopy(t, "picnic-1")
	errRefused := errors.New("out of luck")
	f.client.PrependReactor("delete", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, errRefused
	})
	if err := f.Reconcile(t.Context(), "ns/picnic"); !errors.Is(err, errRefused) {
		t.Errorf("Reconcile returns %v, want %v", err, errRefused)
	}
	writes := f.requests()
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
			f := newFixture()
			f.client.PrependReactor(verb, "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
				return true, nil, apierrors.NewInvalid(schema.GroupKind{Kind: "ConfigMap"}, "picnic-0", nil)
			})
			for _, generation := range []int64{7, 7, 8} {
				picnic, err := f.Resource.Get(t.Context(), "picnic", metav1.GetOptions{})
				must.NoError(t, err)
				picnic.SetGeneration(generation)
				must.NoError(t, f.Notices.Add(picnic))
				if verb == "update" {
					f.newCopy(t, "picnic-0").Data["text"] = "cancelled"
				}
				must.NoError(t, f.Reconcile(t.Context(), "ns/picnic"))
			}
			picnic, err := f.Resource.Get(t.Context(), "picnic", metav1.GetOptions{})
			must.NoError(t, err)
			if got, want := statusOf(t, picnic), "8: 0 copies, Ready is False: Invalid"; got != want {
				t.Errorf("the status is %q, want %q", got, want)
			}
			recorded := f.Recorder.(*events.FakeRecorder).Events
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
		f := newFixture()
		taken := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "picnic-0"}}
		must.NoError(t, f.client.Tracker().Add(taken))
		copies := f.run(t)
		time.Sleep(time.Hour)
		picnic, err := f.Resource.Get(t.Context(), "picnic", metav1.GetOptions{})
		must.NoError(t, err)
		if got, want := statusOf(t, picnic), "7: 0 copies, Ready is False: NameTaken"; got != want {
			t.Errorf("the status is %q, want %q", got, want)
		}
		must.NoError(t, f.client.CoreV1().ConfigMaps("ns").Delete(t.Context(), "picnic-0", metav1.DeleteOptions{}))
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

// One copy meets a conflict, which is not an error in the log. The error of the other copy is.
func TestAConflictHidesNoOtherError(t *testing.T) {
	f := newFixture()
	must.NoError(t, unstructured.SetNestedField(f.picnic.Object, int64(2), "spec", "copies"))
	must.NoError(t, f.Notices.Add(f.picnic))
	f.newCopy(t, "picnic-0").Data = nil
	failCreates(f.client, 1)
	f.client.PrependReactor("update", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewConflict(corev1.Resource("configmaps"), "picnic-0", errors.New("too late"))
	})
	var logged []string
	logger := funcr.New(func(_, args string) { logged = append(logged, args) }, funcr.Options{})
	c := newController(f.Reconciler)
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
