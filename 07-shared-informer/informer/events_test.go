// The calls of handlers, and the state of the store at that time.

package informer_test

import (
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/record"
)

// event makes an event of a ConfigMap with a name and a version.
func event(kind watch.EventType, name, version string) watch.Event {
	return watch.Event{Type: kind, Object: configMap(name, version)}
}

// A list, events, and another list after the watch has expired.
func TestWhatAHandlerIsCalledWith(t *testing.T) {
	type objects = []runtime.Object
	another, same := configMap("a", "2"), configMap("a", "1")
	another.UID = "another"
	stranger := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "b", ResourceVersion: "2"}}
	for name, test := range map[string]struct {
		list      objects
		events    []watch.Event
		relist    objects // the list after the watch has expired; nil: the watch does not expire
		want      []string
		clientGo  []string // the calls of client-go's informer, if they differ from want
		deltaFIFO []string // the same for a DeltaFIFO, which groups by object
	}{
		"a life": {
			events: []watch.Event{event(watch.Added, "a", "2"), event(watch.Modified, "a", "3"),
				event(watch.Deleted, "a", "4"), event(watch.Added, "a", "5")},
			want: []string{"OnAdd a 2", "OnUpdate a 3, was 2", "OnDelete a 4", "OnAdd a 5"},
		},
		"the store decides between add and update": {
			list:   objects{configMap("a", "1")},
			events: []watch.Event{event(watch.Added, "a", "2"), event(watch.Modified, "b", "3")},
			want:   []string{"OnAdd a 1 first", "OnUpdate a 2, was 1", "OnAdd b 3"},
		},
		"only the first list is initial": {
			list: objects{configMap("a", "1")}, relist: objects{configMap("b", "2"), configMap("a", "3")},
			want: []string{"OnAdd a 1 first", "OnAdd b 2", "OnUpdate a 3, was 1"},
		},
		// In this version the object does not exist any more.
		"a delete has the version of the delete": {
			list: objects{configMap("a", "1")}, events: []watch.Event{event(watch.Deleted, "a", "9")},
			want: []string{"OnAdd a 1 first", "OnDelete a 9"},
		},
		"a tombstone after another list": {
			list: objects{configMap("b", "1")}, events: []watch.Event{event(watch.Modified, "b", "2")},
			relist: objects{configMap("a", "7")},
			want:   []string{"OnAdd b 1 first", "OnUpdate b 2, was 1", "OnDelete tombstone ns/b of 2", "OnAdd a 7"},
			deltaFIFO: []string{"OnAdd b 1 first", "OnUpdate b 2, was 1", "OnAdd a 7",
				"OnDelete tombstone ns/b of 2"},
		},
		// The UID is no part of an object's name.
		"deleted and made again unseen is one update": {
			list: objects{configMap("a", "1")}, relist: objects{another},
			want: []string{"OnAdd a 1 first", "OnUpdate a 2, was 1"},
		},
		// Without resyncs, no handler is exempt.
		"unchanged objects of another list go to all of an informer without resyncs": {
			list: objects{configMap("a", "1")}, relist: objects{configMap("a", "1")},
			want: []string{"OnAdd a 1 first", "OnUpdate a 1, was 1"},
		},
		"an event of another type is dropped": {
			events: []watch.Event{{Type: watch.Added, Object: stranger}, event(watch.Added, "a", "3")},
			want:   []string{"OnAdd a 3"},
		},
		"a bookmark is no event": {
			list:   objects{configMap("a", "1")},
			events: []watch.Event{event(watch.Bookmark, "a", "30"), event(watch.Modified, "a", "31")},
			want:   []string{"OnAdd a 1 first", "OnUpdate a 31, was 1"},
		},
		"the deletion of an unknown object is not delivered": {
			events:   []watch.Event{event(watch.Deleted, "never-seen", "2")},
			clientGo: []string{"OnDelete never-seen 2"},
		},
		"an object that a list names twice is delivered once": {
			list: objects{configMap("a", "1"), configMap("a", "2")},
			want: []string{"OnAdd a 2 first"}, clientGo: []string{"OnAdd a 1 first", "OnAdd a 2 first"},
			deltaFIFO: []string{"OnAdd a 1 first", "OnUpdate a 2, was 1"},
		},
		"the same pointer twice, and not only the same name": {
			list: objects{same, same},
			want: []string{"OnAdd a 1 first"}, clientGo: []string{"OnAdd a 1 first", "OnAdd a 1 first"},
			deltaFIFO: []string{"OnAdd a 1 first", "OnUpdate a 1, was 1"},
		},
	} {
		for implementation, newInformer := range implementations {
			t.Run(name+"/"+implementation, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := newRig(newInformer, options(), test.list...)
					handler := r.recorder(t)
					r.run(t)
					w := r.server.NextWatch()
					for _, e := range test.events {
						w.Action(e.Type, e.Object)
					}
					if test.relist != nil {
						r.server.Set(test.relist...)
						fakeapi.Expire(w)
						r.server.NextWatch()
					}
					want := test.want
					switch {
					case implementation == "client-go" && test.clientGo != nil:
						want = test.clientGo
					case implementation == "deltafifo" && test.deltaFIFO != nil:
						want = test.deltaFIFO
					}
					handler.Want(t, want...)
				})
			})
		}
	}
}

// While a handler is busy, an object that it has got in version 1 leaves the selection of the
// informer, and enters it again. The handler is far behind, so it gets one update for both. The old
// object of the update is the one that it has got.
func TestWhatComesBackUnseenIsAnUpdateOfWhatTheHandlerGot(t *testing.T) {
	forOurs(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"))
		r.SharedIndexInformer.(*informer.Informer).SetPatience(0)
		var calls record.Lines
		busy := make(chan struct{})
		recorder := record.Handler(&calls)
		r.handle(t, cache.FilteringResourceEventHandler{
			FilterFunc: func(obj any) bool {
				if obj.(metav1.Object).GetName() == "a" {
					return true
				}
				<-busy
				return false
			},
			Handler: recorder,
		})
		r.run(t)
		calls.Want(t, "OnAdd a 1 first")
		w := r.server.NextWatch()
		w.Add(configMap("b", "2"))
		synctest.Wait() // the handler is busy with b
		w.Delete(configMap("a", "3"))
		w.Add(configMap("a", "4"))
		for i := range 1000 { // more than a chunk of the journal, which folds when a chunk is full
			w.Modify(configMap("b", version(5+i)))
		}
		close(busy)
		calls.Want(t, "OnUpdate a 4, was 1")
	})
}

// "Client notifications happen after the corresponding cache update and … after the corresponding
// index updates."
func TestTheStoreIsAheadOfTheHandler(t *testing.T) {
	forEach(t, func(t *testing.T, newInformer maker) {
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

// "For a given SharedInformer and client, the notifications are delivered sequentially", and those
// of an object in order.
func TestNotificationsComeOneAfterTheOther(t *testing.T) {
	forEach(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options())
		var inside atomic.Int32
		var calls record.Lines
		recorder := record.Handler(&calls)
		r.handle(t, cache.ResourceEventHandlerFuncs{UpdateFunc: func(oldObj, newObj any) {
			if n := inside.Add(1); n > 1 {
				t.Errorf("%d calls at the same time, want 1", n)
			}
			recorder.OnUpdate(oldObj, newObj)
			inside.Add(-1)
		}})
		r.run(t)
		w := r.server.NextWatch()
		var want []string
		w.Add(configMap("a", version(0)))
		for i := range 1000 {
			w.Modify(configMap("a", version(i+1)))
			want = append(want, "OnUpdate a "+version(i+1)+", was "+version(i))
		}
		calls.Want(t, want...)
	})
}

func TestABlockedHandlerHoldsUpNeitherTheOthersNorTheStore(t *testing.T) {
	forEach(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"))
		blocked := make(chan struct{})
		r.handle(t, cache.ResourceEventHandlerFuncs{AddFunc: func(any) { <-blocked }})
		handler := r.recorder(t)
		r.run(t)
		w := r.server.NextWatch()
		w.Add(configMap("b", "2"))
		w.Add(configMap("c", "3"))
		handler.Want(t, "OnAdd a 1 first", "OnAdd b 2", "OnAdd c 3")
		if got, want := keys(r.GetStore()), []string{"ns/a", "ns/b", "ns/c"}; !slices.Equal(got, want) {
			t.Errorf("ListKeys() = %q, want %q", got, want)
		}
		late := r.recorder(t)
		late.WantSorted(t, "OnAdd a 1 first", "OnAdd b 2 first", "OnAdd c 3 first")
		close(blocked)
		synctest.Wait()
	})
}

// The filter is called with both objects of an update, and with tombstones. The store also holds
// the objects that do not match.
func TestWhatAFilterMakesOfACall(t *testing.T) {
	forEach(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"), configMap("b", "9"))
		var calls record.Lines
		filter := cache.FilteringResourceEventHandler{Handler: record.Handler(&calls), FilterFunc: func(obj any) bool {
			if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = gone.Obj
			}
			return obj.(metav1.Object).GetResourceVersion() < "5"
		}}
		r.handle(t, filter)
		r.run(t)
		calls.Want(t, "OnAdd a 1 first")
		w := r.server.NextWatch()
		w.Modify(configMap("a", "2"))
		calls.Want(t, "OnUpdate a 2, was 1")
		w.Modify(configMap("a", "8"))
		calls.Want(t, "OnDelete a 2")
		w.Modify(configMap("a", "9"))
		calls.Want(t)
		w.Modify(configMap("a", "3"))
		calls.Want(t, "OnAdd a 3")
		if got, want := keys(r.GetStore()), []string{"ns/a", "ns/b"}; !slices.Equal(got, want) {
			t.Errorf("ListKeys() = %q, want %q", got, want)
		}
		w.Delete(configMap("b", "9"))
		calls.Want(t)
		r.server.Set() // a is gone, too
		fakeapi.Expire(w)
		r.server.NextWatch()
		calls.Want(t, "OnDelete tombstone ns/a of 3")
	})
}
