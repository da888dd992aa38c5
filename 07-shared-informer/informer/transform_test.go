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
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/record"
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
func stripped(l *record.Lines) cache.ResourceEventHandler {
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
		must.Do(t, r.SetTransform(strip))
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
			expect.That(t, obj.(*corev1.ConfigMap).ManagedFields == nil, "stored: %v", obj)
		}
		r.handle(t, stripped(&calls))
		calls.Want(t, "add c 4: true")
	})
}

// A list with an object that cannot be transformed is refused as a whole, and
// asked for again.
func TestAListThatCannotBeTransformed(t *testing.T) {
	forBoth(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"), configMap("bad", "1"))
		must.Do(t, r.SetTransform(refuseBad))
		var failed record.Lines
		must.Do(t, r.SetWatchErrorHandler(func(_ *cache.Reflector, err error) { failed.Add("%v", err) }))
		handler := r.recorder(t)
		r.run(t)
		failed.Want(t, "unable to sync list result: I do not like it")
		handler.Want(t)
		wantSynced(t, "with half a list", false, r)
		r.server.Set(configMap("a", "1"))
		time.Sleep(2 * time.Second)
		handler.Want(t, "OnAdd a 1 first")
		wantSynced(t, "with a list", true, handler)
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
		must.Do(t, r.SetTransform(refuseBad))
		handler := r.recorder(t)
		r.run(t)
		w := r.server.NextWatch()
		handled.Take()
		w.Add(configMap("bad", "2"))
		w.Modify(configMap("bad", "3"))
		w.Delete(configMap("bad", "4"))
		w.Add(configMap("b", "5"))
		handler.Want(t, "OnAdd b 5")
		handled.Want(t,
			"Unable to add watch event object to store: I do not like it",
			"Unable to update watch event object to store: I do not like it",
			"Unable to delete watch event object from store: I do not like it")
	})
}

// It "is called for each object which is about to be stored": one of a streamed
// list is about to be stored twice, by the reflector and by the informer.
func TestAStreamedListIsTransformedTwice(t *testing.T) {
	forBoth(t, func(t *testing.T, newInformer maker) {
		w := watch.NewFake()
		server := &cache.ListWatch{
			WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) { return w, nil },
		}
		r := &rig{SharedIndexInformer: newInformer(server, &corev1.ConfigMap{}, options())}
		must.Do(t, r.SetTransform(func(obj any) (any, error) {
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
