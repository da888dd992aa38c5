// Tests of SetTransform.

package informer_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/record"
)

// strip changes an object in place. It accepts its own results.
func strip(obj any) (any, error) {
	obj.(*corev1.ConfigMap).ManagedFields = nil
	obj.(*corev1.ConfigMap).Labels = map[string]string{"stripped": "yes"}
	return obj, nil
}

// managed makes a ConfigMap with managed fields, for strip to remove.
func managed(name, version string) *corev1.ConfigMap {
	c := configMap(name, version)
	c.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}
	return c
}

// stripped returns a handler that records for each object whether it was stripped.
func stripped(l *record.Lines) cache.ResourceEventHandler {
	note := func(label string, obj any) {
		if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
			label = "tombstone"
			obj = tombstone.Obj
		}
		c := obj.(*corev1.ConfigMap)
		done := c.ManagedFields == nil && c.Labels["stripped"] == "yes"
		l.Add("%s %s %s: %t", label, c.Name, c.ResourceVersion, done)
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { note("add", obj) },
		UpdateFunc: func(oldObj, newObj any) {
			note("old", oldObj)
			note("new", newObj)
		},
		DeleteFunc: func(obj any) { note("delete", obj) },
	}
}

func TestEverythingIsTransformed(t *testing.T) {
	forEach(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), managed("a", "1"), managed("b", "1"))
		must.NoError(t, r.SetTransform(strip))
		var calls record.Lines
		r.handle(t, stripped(&calls))
		r.run(t)
		w := r.server.NextWatch()
		w.Modify(managed("a", "2"))
		w.Delete(managed("a", "3"))
		calls.WantSorted(t, "add a 1: true", "add b 1: true", "delete a 3: true", "new a 2: true", "old a 1: true")
		r.server.Set(managed("c", "4"))
		fakeapi.Expire(w)
		r.server.NextWatch()
		calls.Want(t, "tombstone b 1: true", "add c 4: true")
		for _, obj := range r.GetStore().List() {
			if c := obj.(*corev1.ConfigMap); c.ManagedFields != nil {
				t.Errorf("the stored object %s has managed fields %v, want none", c.Name, c.ManagedFields)
			}
		}
		r.handle(t, stripped(&calls))
		calls.Want(t, "add c 4: true")
	})
}

// Their objects come from the store.
func TestTombstonesAndResyncsAreNotTransformed(t *testing.T) {
	forEach(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, resyncing(time.Minute), configMap("a", "1"), configMap("b", "1"))
		var transformed record.Lines
		must.NoError(t, r.SetTransform(func(obj any) (any, error) {
			transformed.Add("%s %s", obj.(*corev1.ConfigMap).Name, obj.(*corev1.ConfigMap).ResourceVersion)
			return obj, nil
		}))
		handler := r.recorder(t)
		r.run(t)
		handler.WantSorted(t, "OnAdd a 1 first", "OnAdd b 1 first")
		transformed.WantSorted(t, "a 1", "b 1")
		time.Sleep(time.Minute)
		handler.WantSorted(t, "OnUpdate a 1, was 1", "OnUpdate b 1, was 1")
		transformed.Want(t)
		r.server.Set(configMap("a", "2"))
		fakeapi.Expire(r.server.NextWatch())
		r.server.NextWatch()
		handler.WantSorted(t, "OnDelete tombstone ns/b of 1", "OnUpdate a 2, was 1")
		transformed.Want(t, "a 2")
	})
}

// The last transform counts. It may return another object. Nil stands for no transform.
func TestTheLastTransformCounts(t *testing.T) {
	forEach(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"))
		must.NoError(t, r.SetTransform(func(any) (any, error) { return nil, errNotToday }))
		must.NoError(t, r.SetTransform(func(obj any) (any, error) {
			return configMap("b", obj.(*corev1.ConfigMap).ResourceVersion+"7"), nil
		}))
		handler := r.recorder(t)
		r.run(t)
		w := r.server.NextWatch()
		w.Modify(configMap("a", "2"))
		w.Delete(configMap("a", "3"))
		handler.Want(t, "OnAdd b 17 first", "OnUpdate b 27, was 17", "OnDelete b 37")

		r = newRig(newInformer, options(), managed("a", "1"))
		must.NoError(t, r.SetTransform(strip))
		must.NoError(t, r.SetTransform(nil))
		var calls record.Lines
		r.handle(t, stripped(&calls))
		r.run(t)
		calls.Want(t, "add a 1: false")
	})
}

// A valueObject is not a pointer, and cannot be compared with ==.
type valueObject struct {
	*metav1.ObjectMeta
	data map[string]string
}

func TestATransformMayGiveValuesThatCannotBeCompared(t *testing.T) {
	forEach(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"))
		must.NoError(t, r.SetTransform(func(obj any) (any, error) {
			c := obj.(*corev1.ConfigMap)
			return valueObject{&c.ObjectMeta, c.Data}, nil
		}))
		var calls record.Lines
		r.handle(t, cache.ResourceEventHandlerFuncs{
			AddFunc:    func(obj any) { calls.Add("add %s", obj.(valueObject).ResourceVersion) },
			UpdateFunc: func(_, obj any) { calls.Add("update %s", obj.(valueObject).ResourceVersion) },
			DeleteFunc: func(obj any) {
				calls.Add("delete %s", obj.(cache.DeletedFinalStateUnknown).Obj.(valueObject).ResourceVersion)
			},
		})
		r.run(t)
		w := r.server.NextWatch()
		w.Modify(configMap("a", "2"))
		r.server.Set(configMap("a", "3"))
		fakeapi.Expire(w)
		w = r.server.NextWatch()
		r.server.Set()
		fakeapi.Expire(w)
		r.server.NextWatch()
		calls.Want(t, "add 1", "update 2", "update 3", "delete 3")
	})
}

// The informer refuses a whole list if the transform fails for one object, and lists again.
func TestAListThatCannotBeTransformed(t *testing.T) {
	forEach(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"), configMap("bad", "1"))
		must.NoError(t, r.SetTransform(refuseBad))
		var failed record.Lines
		must.NoError(t, r.SetWatchErrorHandler(func(_ *cache.Reflector, err error) { failed.Add("%v", err) }))
		handler := r.recorder(t)
		r.run(t)
		failed.Want(t, "unable to sync list result: I do not like it")
		handler.Want(t)
		wantSynced(t, "after a list that was refused", false, r)
		r.server.Set(configMap("a", "1"))
		time.Sleep(2 * time.Second)
		handler.Want(t, "OnAdd a 1 first")
		wantSynced(t, "after the next list", true, handler)
	})
}

// A LIST that is refused changes nothing, until another list succeeds. If the list is streamed, only
// the object is left out, and for the informer it is gone.
func TestARelistThatCannotBeTransformed(t *testing.T) {
	for _, test := range []struct {
		name        string
		plain       bool // the server cannot stream
		want, later []string
	}{
		{"LIST", true, nil, []string{"OnUpdate a 3, was 1", "OnUpdate bad 4, was 2"}},
		{"streamed", false, []string{"OnDelete tombstone ns/bad of 2", "OnUpdate a 3, was 1"}, []string{"OnAdd bad 4"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			forEach(t, func(t *testing.T, newInformer maker) {
				server := newModelServer()
				server.plain = test.plain
				server.write("a")
				server.write("bad")
				r := &rig{SharedIndexInformer: newInformer(server, &corev1.ConfigMap{}, options())}
				var refuses atomic.Bool
				must.NoError(t, r.SetTransform(func(obj any) (any, error) {
					if refuses.Load() {
						return refuseBad(obj)
					}
					return obj, nil
				}))
				handler := r.recorder(t)
				r.run(t)
				handler.WantSorted(t, "OnAdd a 1 first", "OnAdd bad 2 first")

				refuses.Store(true)
				server.failWith(errUnreachable)
				server.cut(nil)
				synctest.Wait()
				server.write("a")
				server.failWith(nil)
				time.Sleep(time.Minute)
				handler.WantSorted(t, test.want...)
				refuses.Store(false)
				server.write("bad")
				time.Sleep(time.Minute)
				handler.WantSorted(t, test.later...)
			})
		})
	}
}

func refuseBad(obj any) (any, error) {
	if obj.(*corev1.ConfigMap).Name == "bad" {
		return nil, errors.New("I do not like it")
	}
	return obj, nil
}

// The informer drops an event if the transform fails for it, and goes on with the state that it has.
func TestAnEventThatCannotBeTransformed(t *testing.T) {
	forEach(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"))
		must.NoError(t, r.SetTransform(func(obj any) (any, error) {
			switch obj.(*corev1.ConfigMap).ResourceVersion {
			case "2", "3", "4":
				return nil, errNotToday
			}
			return obj, nil
		}))
		handler := r.recorder(t)
		r.run(t)
		w := r.server.NextWatch()
		handled.Take()
		w.Modify(configMap("a", "2"))
		w.Add(configMap("b", "3"))
		w.Delete(configMap("a", "4"))
		handler.Want(t, "OnAdd a 1 first")
		if got, want := keys(r.GetStore()), []string{"ns/a"}; !slices.Equal(got, want) {
			t.Errorf("ListKeys() = %q, want %q", got, want)
		}
		w.Modify(configMap("a", "5"))
		handler.Want(t, "OnUpdate a 5, was 1")
		handled.Want(t,
			"Unable to update watch event object to store: not today",
			"Unable to add watch event object to store: not today",
			"Unable to delete watch event object from store: not today")
	})
}

// The transform "is called for each object which is about to be stored". An object of a streamed
// list is stored twice: by the reflector, and by the informer.
func TestAStreamedListIsTransformedTwice(t *testing.T) {
	forEach(t, func(t *testing.T, newInformer maker) {
		w := watch.NewFake()
		server := &cache.ListWatch{
			WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) { return w, nil },
		}
		r := &rig{SharedIndexInformer: newInformer(server, &corev1.ConfigMap{}, options())}
		must.NoError(t, r.SetTransform(func(obj any) (any, error) {
			c := obj.(*corev1.ConfigMap)
			c.ResourceVersion = fmt.Sprintf("%s'", c.ResourceVersion)
			return c, nil
		}))
		handler := r.recorder(t)
		r.run(t)
		w.Add(configMap("a", "1"))
		synctest.Wait()
		wantSynced(t, "in the midst of the list", false, r)
		w.Action(watch.Bookmark, endOfList("2").Object)
		handler.Want(t, "OnAdd a 1'' first")
		wantSynced(t, "after the mark", true, handler)
		w.Add(configMap("b", "3"))
		handler.Want(t, "OnAdd b 3'")
	})
}
