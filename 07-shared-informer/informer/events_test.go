// What handlers get, and what the store holds by then.

package informer

import (
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/record"
)

func TestALife(t *testing.T) {
	forBoth(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options())
		handler := r.recorder(t)
		r.run(t)
		w := r.server.NextWatch()
		w.Add(configMap("a", "2"))
		w.Modify(configMap("a", "3"))
		w.Delete(configMap("a", "4"))
		w.Add(configMap("a", "5"))
		handler.Want(t, "OnAdd a 2", "OnUpdate a 3, was 2", "OnDelete a 4", "OnAdd a 5")
	})
}

func TestTheStoreDecidesBetweenAddAndUpdate(t *testing.T) {
	forBoth(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"))
		handler := r.recorder(t)
		r.run(t)
		w := r.server.NextWatch()
		w.Add(configMap("a", "2"))
		w.Modify(configMap("b", "3"))
		handler.Want(t, "OnAdd a 1 first", "OnUpdate a 2, was 1", "OnAdd b 3")
	})
}

func TestOnlyTheFirstListIsInitial(t *testing.T) {
	forBoth(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"))
		handler := r.recorder(t)
		r.run(t)
		handler.Want(t, "OnAdd a 1 first")
		r.server.Set(configMap("b", "2"), configMap("a", "3"))
		fakeapi.Expire(r.server.NextWatch())
		r.server.NextWatch()
		handler.Want(t, "OnAdd b 2", "OnUpdate a 3, was 1")
	})
}

// A delete exposes the state of the event: its version is one in which the
// object is absent.
func TestADeleteHasTheVersionOfTheDelete(t *testing.T) {
	forBoth(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"))
		handler := r.recorder(t)
		r.run(t)
		r.server.NextWatch().Delete(configMap("a", "9"))
		handler.Want(t, "OnAdd a 1 first", "OnDelete a 9")
	})
}

func TestATombstoneAfterARelist(t *testing.T) {
	forBoth(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"), configMap("b", "1"))
		handler := r.recorder(t)
		r.run(t)
		w := r.server.NextWatch()
		w.Modify(configMap("b", "2"))
		handler.Take()
		r.server.Set(configMap("a", "7"))
		fakeapi.Expire(w)
		r.server.NextWatch()
		handler.Want(t, "OnDelete tombstone ns/b of 2", "OnUpdate a 7, was 1")
		if got := keys(r.GetStore()); !slices.Equal(got, []string{"ns/a"}) {
			t.Errorf("the store holds %v", got)
		}
	})
}

// The UID is no part of an object's name.
func TestDeletedAndMadeAgainUnseenIsOneUpdate(t *testing.T) {
	forBoth(t, func(t *testing.T, newInformer maker) {
		before, after := configMap("a", "1"), configMap("a", "2")
		before.UID, after.UID = "one", "another"
		r := newRig(newInformer, options(), before)
		var calls record.Lines
		r.handle(t, cache.ResourceEventHandlerFuncs{UpdateFunc: func(oldObj, newObj any) {
			calls.Add("%s, was %s", newObj.(metav1.Object).GetUID(), oldObj.(metav1.Object).GetUID())
		}})
		r.run(t)
		r.server.Set(after)
		fakeapi.Expire(r.server.NextWatch())
		r.server.NextWatch()
		calls.Want(t, "another, was one")
	})
}

// Without resyncs there is nobody to be spared.
func TestUnchangedObjectsOfARelistGoToAllOfAnInformerWithoutResyncs(t *testing.T) {
	forBoth(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"))
		handler := r.recorder(t)
		r.run(t)
		fakeapi.Expire(r.server.NextWatch())
		r.server.NextWatch()
		handler.Want(t, "OnAdd a 1 first", "OnUpdate a 1, was 1")
	})
}

// "Client notifications happen after the corresponding cache update and … after
// the corresponding index updates."
func TestTheStoreIsAheadOfTheHandler(t *testing.T) {
	forBoth(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, cache.SharedIndexInformerOptions{Indexers: cache.Indexers{"version": byVersion}},
			configMap("a", "1"))
		var seen record.Lines
		look := func(when string) {
			versions := slices.Sorted(slices.Values(r.GetIndexer().ListIndexFuncValues("version")))
			seen.Add("%s: %v", when, versions)
		}
		r.handle(t, cache.ResourceEventHandlerFuncs{
			AddFunc:    func(any) { look("add") },
			UpdateFunc: func(any, any) { look("update") },
			DeleteFunc: func(any) { look("delete") },
		})
		r.run(t)
		w := r.server.NextWatch()
		seen.Want(t, "add: [1]")
		w.Add(configMap("b", "2"))
		seen.Want(t, "add: [1 2]")
		w.Modify(configMap("b", "3"))
		seen.Want(t, "update: [1 3]")
		w.Delete(configMap("a", "4"))
		seen.Want(t, "delete: [3]")
	})
}

func byVersion(obj any) ([]string, error) {
	return []string{obj.(metav1.Object).GetResourceVersion()}, nil
}

// "For a given SharedInformer and client, the notifications are delivered
// sequentially", and those of an object in order.
func TestNotificationsComeOneAfterTheOther(t *testing.T) {
	forBoth(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options())
		var inside atomic.Int32
		var calls record.Lines
		r.handle(t, cache.ResourceEventHandlerFuncs{
			AddFunc: func(any) {},
			UpdateFunc: func(oldObj, newObj any) {
				if inside.Add(1) > 1 {
					t.Error("two calls at once")
				}
				calls.Add("%s %s", oldObj.(metav1.Object).GetResourceVersion(),
					newObj.(metav1.Object).GetResourceVersion())
				inside.Add(-1)
			},
		})
		r.run(t)
		w := r.server.NextWatch()
		var want []string
		w.Add(configMap("a", version(0)))
		for i := range 1000 {
			w.Modify(configMap("a", version(i+1)))
			want = append(want, version(i)+" "+version(i+1))
		}
		calls.Want(t, want...)
	})
}

func TestABlockedHandlerHoldsUpNeitherTheOthersNorTheStore(t *testing.T) {
	forBoth(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"))
		blocked := make(chan struct{})
		r.handle(t, cache.ResourceEventHandlerFuncs{AddFunc: func(any) { <-blocked }})
		handler := r.recorder(t)
		r.run(t)
		w := r.server.NextWatch()
		w.Add(configMap("b", "2"))
		w.Add(configMap("c", "3"))
		handler.Want(t, "OnAdd a 1 first", "OnAdd b 2", "OnAdd c 3")
		if got := keys(r.GetStore()); len(got) != 3 {
			t.Errorf("the store holds %v", got)
		}
		late := r.recorder(t)
		late.WantSorted(t, "OnAdd a 1 first", "OnAdd b 2 first", "OnAdd c 3 first")
		close(blocked)
		synctest.Wait()
	})
}

// Of what comes through the watch, only the expected type is stored.
func TestAnEventOfAnotherTypeIsDropped(t *testing.T) {
	forBoth(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options())
		handler := r.recorder(t)
		r.run(t)
		w := r.server.NextWatch()
		w.Add(&metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "b", ResourceVersion: "2"}})
		w.Add(configMap("a", "3"))
		handler.Want(t, "OnAdd a 3")
	})
}
