package watchdog

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/record"
)

func TestALife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := run(t, fakeapi.New(configMap("a", "1")))
		w := r.server.NextWatch()
		w.Add(configMap("b", "2"))
		w.Modify(configMap("b", "3"))
		w.Delete(configMap("b", "4"))
		r.calls.Want(t, "OnAdd a 1 first", "OnAdd b 2", "OnUpdate b 3, was 2", "OnDelete b 4")
		r.errors.Want(t)
	})
}

// The name of a delta decides nothing.
func TestAnUpdateOfAnUnknownObjectIsAnAdd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := run(t, fakeapi.New())
		<-r.Synced() // an empty list is a list
		w := r.server.NextWatch()
		w.Modify(configMap("a", "2"))
		w.Add(configMap("a", "3")) // and the other way round
		r.calls.Want(t, "OnAdd a 2", "OnUpdate a 3, was 2")
	})
}

// b comes and changes while the handler is busy with a.
func TestWhatIsPoppedTogetherIsDecidedOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := make(chan struct{})
		r := run(t, fakeapi.New(configMap("a", "1")), func(r *rig, o *Options) {
			recorder := record.Handler(&r.calls)
			o.Handler = cache.ResourceEventHandlerFuncs{
				AddFunc:    func(obj any) { <-busy; recorder.OnAdd(obj, false) },
				UpdateFunc: recorder.OnUpdate,
			}
		})
		w := r.server.NextWatch()
		w.Add(configMap("b", "2"))
		w.Modify(configMap("b", "3"))
		synctest.Wait()
		close(busy)
		r.calls.Want(t, "OnAdd a 1", "OnAdd b 2", "OnUpdate b 3, was 2")
	})
}

func TestTheStoreIsChangedBeforeTheHandlerIsCalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var held any // what the store held after the call before
		check := func(r *rig, old, obj any) {
			expect.That(t, old == held, "the old object is not the one that the store held")
			held, _, _ = r.Store().GetByKey("ns/a")
			expect.That(t, held == obj, "the store does not hold what the handler is called with")
		}
		r := run(t, fakeapi.New(), func(r *rig, o *Options) {
			o.Handler = cache.ResourceEventHandlerFuncs{
				AddFunc:    func(obj any) { check(r, nil, obj) },
				UpdateFunc: func(old, obj any) { check(r, old, obj) },
				DeleteFunc: func(any) { check(r, held, nil); r.calls.Add("deleted") },
			}
		})
		w := r.server.NextWatch()
		w.Add(configMap("a", "2"))
		synctest.Wait()
		w.Modify(configMap("a", "3"))
		synctest.Wait()
		w.Delete(configMap("a", "4"))
		r.calls.Want(t, "deleted")
	})
}

func TestATombstoneIsHandedOnAndTheStoreForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := run(t, fakeapi.New(configMap("a", "1"), configMap("b", "1")))
		w := r.server.NextWatch()
		r.calls.Want(t, "OnAdd a 1 first", "OnAdd b 1 first")
		r.server.Set(configMap("b", "1"))
		fakeapi.Expire(w)
		r.server.NextWatch()
		r.calls.Want(t, "OnUpdate b 1, was 1", "OnDelete tombstone ns/a of 1")
		keys := r.Store().ListKeys()
		expect.That(t, len(keys) == 1 && keys[0] == "ns/b", "the store holds %v, want ns/b", keys)
	})
}

// The queue looks at the store to find out what a list lacks. An object that
// is out of the queue and not yet in the store would be forgotten by both, and
// stay for ever.
func TestWhatIsBeingHandledIsNotForgottenByARelist(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := make(chan struct{})
		r := run(t, fakeapi.New(), func(r *rig, o *Options) {
			recorder := record.Handler(&r.calls)
			o.Handler = cache.ResourceEventHandlerFuncs{
				AddFunc:    func(obj any) { <-busy; recorder.OnAdd(obj, false) },
				DeleteFunc: recorder.OnDelete,
			}
		})
		w := r.server.NextWatch()
		w.Add(configMap("a", "2"))
		synctest.Wait() // the handler is busy with a
		fakeapi.Expire(w)
		r.server.NextWatch() // listed: there is no a
		close(busy)
		r.calls.Want(t, "OnAdd a 2", "OnDelete tombstone ns/a of 2")
		keys := r.Store().ListKeys()
		expect.That(t, len(keys) == 0, "the store holds %v, want nothing", keys)
	})
}

func TestOnlyTheFirstListIsInitial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := run(t, fakeapi.New(configMap("a", "1")))
		w := r.server.NextWatch()
		w.Add(configMap("b", "2"))
		r.calls.Want(t, "OnAdd a 1 first", "OnAdd b 2")
		r.server.Set(configMap("a", "1"), configMap("b", "2"), configMap("c", "3"))
		fakeapi.Expire(w)
		r.server.NextWatch()
		r.calls.Want(t, "OnUpdate a 1, was 1", "OnUpdate b 2, was 2", "OnAdd c 3")
	})
}

// b waits in the queue as part of the first list while it goes and comes back, by an
// event and by another list: what came back was not in the first list.
func TestWhatComesBackIsNotInitial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := make(chan struct{})
		r := run(t, fakeapi.New(configMap("a", "1"), configMap("b", "1")), func(r *rig, o *Options) {
			recorder := record.Handler(&r.calls)
			o.Handler = cache.ResourceEventHandlerDetailedFuncs{
				AddFunc:    func(obj any, first bool) { <-busy; recorder.OnAdd(obj, first) },
				DeleteFunc: recorder.OnDelete,
			}
		})
		w := r.server.NextWatch()
		w.Delete(configMap("b", "2"))
		w.Add(configMap("b", "3"))
		w.Delete(configMap("b", "4"))
		r.server.Set(configMap("a", "1"), configMap("b", "5"))
		fakeapi.Expire(w)
		r.server.NextWatch()
		synctest.Wait()
		close(busy)
		r.calls.Want(t, "OnAdd a 1 first", "OnAdd b 1 first", "OnDelete b 2", "OnAdd b 3", "OnDelete b 4", "OnAdd b 5")
	})
}

func TestHasSyncedWhenAllOfTheFirstListIsHandled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		step := make(chan struct{})
		r := run(t, fakeapi.New(configMap("a", "1"), configMap("b", "1")), func(r *rig, o *Options) {
			o.Handler = cache.ResourceEventHandlerFuncs{AddFunc: func(any) { <-step }}
		})
		for _, want := range []bool{false, false, true} {
			synctest.Wait()
			got := r.HasSynced()
			expect.That(t, got == want, "HasSynced() = %t, want %t", got, want)
			if !want {
				step <- struct{}{}
			}
		}
	})
}

func TestAListThatFailsDoesNotSync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := fakeapi.New()
		server.Fail(errors.New("no list today"))
		r := run(t, server)
		r.errors.Want(t, "listing and watching *v1.ConfigMap, to be tried again: failed to list *v1.ConfigMap: no "+
			"list today")
		expect.That(t, !r.HasSynced(), "HasSynced() = true, want false")
		server.Set(configMap("a", "1"))
		<-r.Synced() // it tries again by itself
		r.calls.Want(t, "OnAdd a 1 first")
	})
}

func TestAResyncDeliversAllAgainAsUpdates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := run(t, fakeapi.New(configMap("a", "1")), func(_ *rig, o *Options) { o.ResyncPeriod = time.Minute })
		r.calls.Want(t, "OnAdd a 1 first")
		time.Sleep(time.Minute)
		r.calls.Want(t, "OnUpdate a 1, was 1")
		lists := r.server.Lists()
		expect.That(t, lists == 1, "the server was asked for %d lists, want 1", lists)
	})
}

// It has the name, not the identity: a handler that needs it compares UIDs.
func TestDeletedAndMadeAgainUnseenIsOneUpdate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var before, after corev1.ConfigMap
		r := run(t, fakeapi.New(configMap("a", "1")), func(_ *rig, o *Options) {
			o.Handler = cache.ResourceEventHandlerFuncs{UpdateFunc: func(old, obj any) {
				before, after = *old.(*corev1.ConfigMap), *obj.(*corev1.ConfigMap)
			}}
		})
		w := r.server.NextWatch()
		another := configMap("a", "9")
		another.UID = "another"
		r.server.Set(another)
		fakeapi.Expire(w)
		r.server.NextWatch()
		synctest.Wait()
		expect.That(t, before.UID == "uid-a" && after.UID == "another",
			"updated from %q to %q, want from uid-a to another", before.UID, after.UID)
	})
}
