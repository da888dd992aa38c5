// SetTransform: what an object is made into before anybody sees it.

package informer

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/05-watchdog/calls/callstest"
	"example.com/informer/05-watchdog/fakeserver"
)

// strip changes an object in place. It can take what it gave.
func strip(obj any) (any, error) {
	obj.(*corev1.ConfigMap).ManagedFields = nil
	obj.(*corev1.ConfigMap).Labels = map[string]string{"stripped": "yes"}
	return obj, nil
}

// managed is an object with something to strip.
func managed(name, version string) *corev1.ConfigMap {
	c := configMap(name, version)
	c.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}
	return c
}

// stripped returns a handler that says of each object whether it is stripped.
func stripped(l *callstest.Lines) cache.ResourceEventHandler {
	say := func(what string, obj any) {
		if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
			what, obj = "tombstone", gone.Obj
		}
		c := obj.(*corev1.ConfigMap)
		l.Add("%s %s %s: %t", what, c.Name, c.ResourceVersion, c.ManagedFields == nil && c.Labels["stripped"] == "yes")
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { say("add", obj) },
		UpdateFunc: func(oldObj, newObj any) { say("old", oldObj); say("new", newObj) },
		DeleteFunc: func(obj any) { say("delete", obj) },
	}
}

func TestEverythingIsTransformed(t *testing.T) {
	forBoth(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), managed("a", "1"), managed("b", "1"))
		must(t, r.SetTransform(strip))
		var told callstest.Lines
		r.handle(t, stripped(&told))
		r.run(t)
		w := r.server.NextWatch()
		w.Modify(managed("a", "2"))
		w.Delete(managed("a", "3"))
		told.WantSorted(t, "add a 1: true", "add b 1: true", "delete a 3: true", "new a 2: true", "old a 1: true")
		r.server.Set(managed("c", "4"))
		fakeserver.Expire(w)
		r.server.NextWatch()
		told.Want(t, "tombstone b 1: true", "add c 4: true")
		for _, obj := range r.GetStore().List() {
			if obj.(*corev1.ConfigMap).ManagedFields != nil {
				t.Errorf("stored: %v", obj)
			}
		}
		r.handle(t, stripped(&told))
		told.Want(t, "add c 4: true")
	})
}

// It may return another object; nil stands for no transform.
func TestTheLastTransformCounts(t *testing.T) {
	forBoth(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"))
		must(t, r.SetTransform(func(any) (any, error) { return nil, errNotToday }))
		must(t, r.SetTransform(func(obj any) (any, error) { return configMap("b", "7"), nil }))
		told := r.client(t)
		r.run(t)
		told.Want(t, "OnAdd b 7 first")

		r = newRig(newInformer, options(), configMap("a", "1"))
		must(t, r.SetTransform(strip))
		must(t, r.SetTransform(nil))
		told = r.client(t)
		r.run(t)
		told.Want(t, "OnAdd a 1 first")
	})
}

// sky is no pointer, and cannot be compared with ==.
type sky struct {
	*metav1.ObjectMeta
	data map[string]string
}

func TestATransformMayGiveValuesThatCannotBeCompared(t *testing.T) {
	forBoth(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"))
		must(t, r.SetTransform(func(obj any) (any, error) {
			c := obj.(*corev1.ConfigMap)
			return sky{&c.ObjectMeta, c.Data}, nil
		}))
		var told callstest.Lines
		r.handle(t, cache.ResourceEventHandlerFuncs{
			AddFunc:    func(obj any) { told.Add("add %s", obj.(sky).ResourceVersion) },
			UpdateFunc: func(_, obj any) { told.Add("update %s", obj.(sky).ResourceVersion) },
			DeleteFunc: func(obj any) {
				told.Add("delete %s", obj.(cache.DeletedFinalStateUnknown).Obj.(sky).ResourceVersion)
			},
		})
		r.run(t)
		w := r.server.NextWatch()
		w.Modify(configMap("a", "2"))
		r.server.Set(configMap("a", "3"))
		fakeserver.Expire(w)
		w = r.server.NextWatch()
		r.server.Set()
		fakeserver.Expire(w)
		r.server.NextWatch()
		told.Want(t, "add 1", "update 2", "update 3", "delete 3")
	})
}

// A list with an object that cannot be transformed is refused as a whole, and
// asked for again.
func TestAListThatCannotBeTransformed(t *testing.T) {
	forBoth(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"), configMap("bad", "1"))
		must(t, r.SetTransform(refuseBad))
		var failed callstest.Lines
		must(t, r.SetWatchErrorHandler(func(_ *cache.Reflector, err error) { failed.Add("%v", err) }))
		told := r.client(t)
		r.run(t)
		failed.Want(t, "unable to sync list result: I do not like it")
		told.Want(t)
		wantSynced(t, "with half a list", r, false)
		r.server.Set(configMap("a", "1"))
		time.Sleep(2 * time.Second)
		told.Want(t, "OnAdd a 1 first")
		wantSynced(t, "with a list", told, true)
	})
}

func refuseBad(obj any) (any, error) {
	if obj.(*corev1.ConfigMap).Name == "bad" {
		return nil, errors.New("I do not like it")
	}
	return obj, nil
}

// An event that cannot be transformed is dropped. The others are not.
func TestAnEventThatCannotBeTransformed(t *testing.T) {
	forBoth(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options())
		must(t, r.SetTransform(refuseBad))
		told := r.client(t)
		r.run(t)
		w := r.server.NextWatch()
		handled.Take()
		w.Add(configMap("bad", "2"))
		w.Modify(configMap("bad", "3"))
		w.Delete(configMap("bad", "4"))
		w.Add(configMap("b", "5"))
		told.Want(t, "OnAdd b 5")
		handled.Want(t,
			"Unable to add watch event object to store: I do not like it",
			"Unable to update watch event object to store: I do not like it",
			"Unable to delete watch event object from store: I do not like it")
	})
}

// streaming is a server that sends its list over the watch.
func streaming(w watch.Interface) *cache.ListWatch {
	return &cache.ListWatch{
		ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
			return nil, errors.New("there is no list")
		},
		WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) { return w, nil },
	}
}

// It "is called for each object which is about to be stored": one of a streamed
// list is about to be stored twice, by the reflector and by the informer.
func TestAStreamedListIsTransformedTwice(t *testing.T) {
	forBoth(t, func(t *testing.T, newInformer maker) {
		w := watch.NewFake()
		r := &rig{SharedIndexInformer: newInformer(streaming(w), &corev1.ConfigMap{}, options())}
		must(t, r.SetTransform(func(obj any) (any, error) {
			c := obj.(*corev1.ConfigMap)
			c.ResourceVersion = fmt.Sprintf("%s'", c.ResourceVersion)
			return c, nil
		}))
		told := r.client(t)
		r.run(t)
		w.Add(configMap("a", "1"))
		synctest.Wait()
		wantSynced(t, "in the midst of the list", r, false)
		w.Action(watch.Bookmark, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
			ResourceVersion: "2", Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"},
		}})
		told.Want(t, "OnAdd a 1'' first")
		wantSynced(t, "after the mark", told, true)
		w.Add(configMap("b", "3"))
		told.Want(t, "OnAdd b 3'")
	})
}
