package watchdog

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/05-watchdog/calls/callstest"
	"example.com/informer/05-watchdog/fakeserver"
)

func TestALife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := run(t, fakeserver.New(configMap("a", "1")))
		w := k.server.NextWatch()
		w.Add(configMap("b", "2"))
		w.Modify(configMap("b", "3"))
		w.Delete(configMap("b", "4"))
		k.calls.Want(t, "OnAdd a 1 first", "OnAdd b 2", "OnUpdate b 3, was 2", "OnDelete b 4")
		k.errors.Want(t)
	})
}

// The name of a delta decides nothing.
func TestAnUpdateOfAnUnknownObjectIsAnAdd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := run(t, fakeserver.New())
		k.server.NextWatch().Modify(configMap("a", "2"))
		k.calls.Want(t, "OnAdd a 2")
	})
}

func TestAnAddOfAKnownObjectIsAnUpdate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := run(t, fakeserver.New(configMap("a", "1")))
		k.server.NextWatch().Add(configMap("a", "2"))
		k.calls.Want(t, "OnAdd a 1 first", "OnUpdate a 2, was 1")
	})
}

func TestTheStoreIsChangedBeforeTheHandlerIsCalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var held any // what the store held after the call before
		check := func(k *kennel, old, obj any) {
			if old != held {
				t.Errorf("the old object is not the one that the store held: %v", old)
			}
			held, _, _ = k.Store().GetByKey("ns/a")
			if held != obj {
				t.Errorf("the store holds %v, the handler is told of %v", held, obj)
			}
		}
		k := run(t, fakeserver.New(), func(k *kennel, o *Options) {
			o.Handler = cache.ResourceEventHandlerFuncs{
				AddFunc:    func(obj any) { check(k, nil, obj) },
				UpdateFunc: func(old, obj any) { check(k, old, obj) },
				DeleteFunc: func(any) { check(k, held, nil); k.calls.Add("deleted") },
			}
		})
		w := k.server.NextWatch()
		w.Add(configMap("a", "2"))
		synctest.Wait()
		w.Modify(configMap("a", "3"))
		synctest.Wait()
		w.Delete(configMap("a", "4"))
		k.calls.Want(t, "deleted")
	})
}

func TestATombstoneIsHandedOnAndTheStoreForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := run(t, fakeserver.New(configMap("a", "1"), configMap("b", "1")))
		w := k.server.NextWatch()
		k.calls.Want(t, "OnAdd a 1 first", "OnAdd b 1 first")
		k.server.Set(configMap("b", "1"))
		fakeserver.Expire(w)
		k.server.NextWatch()
		k.calls.Want(t, "OnUpdate b 1, was 1", "OnDelete tombstone ns/a of 1")
		if keys := k.Store().ListKeys(); len(keys) != 1 || keys[0] != "ns/b" {
			t.Errorf("the store holds %v, want ns/b", keys)
		}
	})
}

// The queue looks at the store to find out what a list lacks. An object that
// is out of the queue and not yet in the store would be forgotten by both, and
// stay for ever.
func TestWhatIsBeingHandledIsNotForgottenByARelist(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := make(chan struct{})
		k := run(t, fakeserver.New(), func(k *kennel, o *Options) {
			told := callstest.Recorder(&k.calls)
			o.Handler = cache.ResourceEventHandlerFuncs{
				AddFunc:    func(obj any) { <-busy; told.OnAdd(obj, false) },
				DeleteFunc: told.OnDelete,
			}
		})
		w := k.server.NextWatch()
		w.Add(configMap("a", "2"))
		synctest.Wait() // the handler is busy with a
		fakeserver.Expire(w)
		k.server.NextWatch() // listed: there is no a
		close(busy)
		k.calls.Want(t, "OnAdd a 2", "OnDelete tombstone ns/a of 2")
		if keys := k.Store().ListKeys(); len(keys) != 0 {
			t.Errorf("the store holds %v, want nothing", keys)
		}
	})
}

func TestOnlyTheFirstListIsInitial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := run(t, fakeserver.New(configMap("a", "1")))
		w := k.server.NextWatch()
		w.Add(configMap("b", "2"))
		k.calls.Want(t, "OnAdd a 1 first", "OnAdd b 2")
		k.server.Set(configMap("a", "1"), configMap("b", "2"), configMap("c", "3"))
		fakeserver.Expire(w)
		k.server.NextWatch()
		k.calls.Want(t, "OnUpdate a 1, was 1", "OnUpdate b 2, was 2", "OnAdd c 3")
	})
}

// b waits in the queue as part of the first list while it goes and comes back:
// what came back was not in that list.
func TestWhatComesBackIsNotInitial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := make(chan struct{})
		k := run(t, fakeserver.New(configMap("a", "1"), configMap("b", "1")), func(k *kennel, o *Options) {
			told := callstest.Recorder(&k.calls)
			o.Handler = cache.ResourceEventHandlerDetailedFuncs{
				AddFunc:    func(obj any, first bool) { <-busy; told.OnAdd(obj, first) },
				DeleteFunc: told.OnDelete,
			}
		})
		w := k.server.NextWatch()
		w.Delete(configMap("b", "2"))
		w.Add(configMap("b", "3"))
		synctest.Wait()
		close(busy)
		k.calls.Want(t, "OnAdd a 1 first", "OnAdd b 1 first", "OnDelete b 2", "OnAdd b 3")
	})
}

func TestHasSyncedWhenAllOfTheFirstListIsHandled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		step := make(chan struct{})
		k := run(t, fakeserver.New(configMap("a", "1"), configMap("b", "1")), func(k *kennel, o *Options) {
			o.Handler = cache.ResourceEventHandlerFuncs{AddFunc: func(any) { <-step }}
		})
		for _, want := range []bool{false, false, true} {
			synctest.Wait()
			if got := k.HasSynced(); got != want {
				t.Errorf("HasSynced() = %t, want %t", got, want)
			}
			if !want {
				step <- struct{}{}
			}
		}
	})
}

func TestAnEmptyListSyncs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := run(t, fakeserver.New())
		synctest.Wait()
		if !k.HasSynced() {
			t.Error("HasSynced() = false, want true")
		}
	})
}

func TestAListThatFailsDoesNotSync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := fakeserver.New()
		server.Fail(errors.New("no list today"))
		k := run(t, server)
		k.errors.Want(t, "listing and watching *v1.ConfigMap, to be tried again: failed to list *v1.ConfigMap: no "+
			"list today")
		if k.HasSynced() {
			t.Error("HasSynced() = true, want false")
		}
		server.Set(configMap("a", "1"))
		<-k.Synced() // it tries again by itself
		k.calls.Want(t, "OnAdd a 1 first")
	})
}

func TestAResyncTellsOfAllAgainAsUpdates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := run(t, fakeserver.New(configMap("a", "1")), func(_ *kennel, o *Options) { o.ResyncPeriod = time.Minute })
		k.calls.Want(t, "OnAdd a 1 first")
		time.Sleep(time.Minute)
		k.calls.Want(t, "OnUpdate a 1, was 1")
		if lists := k.server.Lists(); lists != 1 {
			t.Errorf("the server was asked for %d lists, want 1", lists)
		}
	})
}

// It has the name, not the identity: whoever cares compares UIDs.
func TestDeletedAndMadeAgainUnseenIsOneUpdate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var before, after corev1.ConfigMap
		k := run(t, fakeserver.New(configMap("a", "1")), func(_ *kennel, o *Options) {
			o.Handler = cache.ResourceEventHandlerFuncs{UpdateFunc: func(old, obj any) {
				before, after = *old.(*corev1.ConfigMap), *obj.(*corev1.ConfigMap)
			}}
		})
		w := k.server.NextWatch()
		another := configMap("a", "9")
		another.UID = "another"
		k.server.Set(another)
		fakeserver.Expire(w)
		k.server.NextWatch()
		synctest.Wait()
		if before.UID != "uid-a" || after.UID != "another" {
			t.Errorf("updated from %q to %q, want from uid-a to another", before.UID, after.UID)
		}
	})
}
