// Tests of SetTransform.

package informer_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

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

func TestAnEventThatCannotBeTransformedIsReported(t *testing.T) {
	forEach(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options())
		must.NoError(t, r.SetTransform(func(any) (any, error) { return nil, errNotToday }))
		r.run(t)
		w := r.server.NextWatch()
		handled.Take()
		w.Modify(configMap("a", "2"))
		w.Add(configMap("b", "3"))
		w.Delete(configMap("a", "4"))
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
