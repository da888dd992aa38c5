package watchdog

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
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

// The store decides between OnAdd and OnUpdate, not the type of the event.
func TestAnUpdateOfAnUnknownObjectIsAnAdd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := run(t, fakeapi.New())
		<-r.Synced() // after an empty list
		w := r.server.NextWatch()
		w.Modify(configMap("a", "2"))
		w.Add(configMap("a", "3")) // an Added event of a known object
		r.calls.Want(t, "OnAdd a 2", "OnUpdate a 3, was 2")
	})
}

// b is added and changed while the handler is busy with a.
func TestWhatIsPoppedTogetherIsDecidedOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := make(chan struct{})
		r := run(t, fakeapi.New(configMap("a", "1")), func(r *rig, o *Options) {
			recorder := record.Handler(&r.calls)
			o.Handler = cache.ResourceEventHandlerFuncs{
				AddFunc: func(obj any) {
					<-busy
					recorder.OnAdd(obj, false)
				},
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
		var held any // the object in the store after the previous call
		check := func(r *rig, old, obj any) {
			if old != held {
				t.Errorf("the old object is %v, want the one that the store held: %v", old, held)
			}
			stored, _, err := r.Store().GetByKey("ns/a")
			must.NoError(t, err)
			if stored != obj {
				t.Errorf("the store holds %v, want the object of the call: %v", stored, obj)
			}
			held = stored
		}
		r := run(t, fakeapi.New(), func(r *rig, o *Options) {
			o.Handler = cache.ResourceEventHandlerFuncs{
				AddFunc:    func(obj any) { check(r, nil, obj) },
				UpdateFunc: func(old, obj any) { check(r, old, obj) },
				DeleteFunc: func(any) {
					check(r, held, nil)
					r.calls.Add("deleted")
				},
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
		if got, want := r.Store().ListKeys(), []string{"ns/b"}; !slices.Equal(got, want) {
			t.Errorf("ListKeys() = %q, want %q", got, want)
		}
	})
}

// Objects and tombstones have the keys of the KeyFunction, which never gets a tombstone. A key need
// not have the form namespace/name.
func TestAKeyFunctionOfOnesOwn(t *testing.T) {
	for _, prefix := range []string{"key-of-", "/", "cluster/ns/"} {
		synctest.Test(t, func(t *testing.T) {
			r := run(t, fakeapi.New(configMap("a", "1"), configMap("b", "1")), func(_ *rig, o *Options) {
				o.KeyFunction = func(obj any) (string, error) { return prefix + obj.(*corev1.ConfigMap).Name, nil }
			})
			w := r.server.NextWatch()
			r.calls.Want(t, "OnAdd a 1 first", "OnAdd b 1 first")
			r.server.Set(configMap("b", "1"))
			fakeapi.Expire(w)
			r.server.NextWatch()
			r.calls.Want(t, "OnUpdate b 1, was 1", "OnDelete tombstone "+prefix+"a of 1")
			r.errors.Want(t)
			if got, want := r.Store().ListKeys(), []string{prefix + "b"}; !slices.Equal(got, want) {
				t.Errorf("ListKeys() = %q, want %q, the key of the KeyFunction", got, want)
			}
		})
	}
}

// The queue compares a new list with the store. An object that has left the queue and is not in the
// store yet would be missing in both. Nobody would ever delete it.
func TestWhatIsBeingHandledIsNotForgottenByARelist(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := make(chan struct{})
		r := run(t, fakeapi.New(), func(r *rig, o *Options) {
			recorder := record.Handler(&r.calls)
			o.Handler = cache.ResourceEventHandlerFuncs{
				AddFunc: func(obj any) {
					<-busy
					recorder.OnAdd(obj, false)
				},
				DeleteFunc: recorder.OnDelete,
			}
		})
		w := r.server.NextWatch()
		w.Add(configMap("a", "2"))
		synctest.Wait() // the handler is busy with a
		fakeapi.Expire(w)
		r.server.NextWatch() // the list before this watch has no a
		close(busy)
		r.calls.Want(t, "OnAdd a 2", "OnDelete tombstone ns/a of 2")
		if got := r.Store().ListKeys(); len(got) != 0 {
			t.Errorf("ListKeys() = %q, want none", got)
		}
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

// b waits in the queue as a part of the first list. Meanwhile it is deleted and comes back twice:
// by an event, and by another list. The objects that came back were not in the first list.
func TestWhatComesBackIsNotInitial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := make(chan struct{})
		r := run(t, fakeapi.New(configMap("a", "1"), configMap("b", "1")), func(r *rig, o *Options) {
			recorder := record.Handler(&r.calls)
			o.Handler = cache.ResourceEventHandlerDetailedFuncs{
				AddFunc: func(obj any, first bool) {
					<-busy
					recorder.OnAdd(obj, first)
				},
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

// c is added while the handler is busy with the first list, and does not count.
func TestHasSyncedWhenAllOfTheFirstListIsHandled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		step := make(chan struct{})
		defer close(step)
		r := run(t, fakeapi.New(configMap("a", "1"), configMap("b", "1")), func(r *rig, o *Options) {
			o.Handler = cache.ResourceEventHandlerFuncs{AddFunc: func(any) { <-step }}
		})
		r.server.NextWatch().Add(configMap("c", "2"))
		for handled := range 2 {
			synctest.Wait()
			if r.HasSynced() {
				t.Errorf("HasSynced() = true when %d of 2 objects are handled, want false", handled)
			}
			step <- struct{}{}
		}
		synctest.Wait()
		if !r.HasSynced() {
			t.Error("HasSynced() = false when both objects of the first list are handled, want true")
		}
	})
}

// The only object of the first list is popped, and the handler is busy with it. The next list that
// is taken is empty: there is nothing in it to handle.
func TestALaterListThatIsEmptyDoesNotSync(t *testing.T) {
	for _, test := range []struct {
		name    string
		refused int // which call of the key function for b returns an error: the inbox is first, the queue second
	}{{"the second list", 0}, {"after one that the inbox refuses", 1}, {"after one that the queue refuses", 2}} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				busy, refused := make(chan struct{}), make(chan error, 1)
				asked := 0 // for the key of b
				r := run(t, fakeapi.New(configMap("a", "1")), func(_ *rig, o *Options) {
					o.Handler = cache.ResourceEventHandlerFuncs{AddFunc: func(any) { <-busy }}
					o.OnError = func(err error) { refused <- err }
					o.KeyFunction = func(obj any) (string, error) {
						if obj.(*corev1.ConfigMap).Name == "b" {
							asked++
							if asked == test.refused {
								return "", errors.New("I do not like it")
							}
						}
						return cache.MetaNamespaceKeyFunc(obj)
					}
				})
				w := r.server.NextWatch()
				if test.refused > 0 {
					r.server.Set(configMap("b", "1"))
					fakeapi.Expire(w)
					<-refused
					r.server.Set()
				} else {
					r.server.Set()
					fakeapi.Expire(w)
				}
				r.server.NextWatch() // right after the empty list
				if r.HasSynced() {
					t.Error("HasSynced() = true while the handler is busy with the first list, want false")
				}
				close(busy)
				<-r.Synced()
			})
		})
	}
}

func TestAListThatFailsDoesNotSync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := fakeapi.New()
		server.Fail(errors.New("no list today"))
		r := run(t, server)
		r.errors.Want(t, "listing and watching *v1.ConfigMap, to be tried again: failed to list *v1.ConfigMap: no "+
			"list today")
		if r.HasSynced() {
			t.Error("HasSynced() = true after a list that failed, want false")
		}
		server.Set(configMap("a", "1"))
		<-r.Synced() // the reflector lists again
		r.calls.Want(t, "OnAdd a 1 first")
	})
}

// The end wakes the loop, which has nothing to handle.
func TestTheEndDoesNotSync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := fakeapi.New()
		server.Fail(errors.New("no list today"))
		r := run(t, server)
		synctest.Wait()
		must.NoError(t, r.stop())
		if r.HasSynced() {
			t.Error("HasSynced() = true after the end without a list, want false")
		}
	})
}

func TestAResyncDeliversAllAgainAsUpdates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := run(t, fakeapi.New(configMap("a", "1")), func(_ *rig, o *Options) { o.ResyncPeriod = time.Minute })
		r.calls.Want(t, "OnAdd a 1 first")
		time.Sleep(time.Minute)
		r.calls.Want(t, "OnUpdate a 1, was 1")
		if lists := r.server.Lists(); lists != 1 {
			t.Errorf("Lists() = %d, want 1: a resync makes no request", lists)
		}
	})
}

// The name is the same, the object is not: a handler that needs to know compares the UIDs.
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
		if before.UID != "uid-a" || after.UID != "another" {
			t.Errorf("OnUpdate from UID %q to UID %q, want from uid-a to another", before.UID, after.UID)
		}
	})
}
