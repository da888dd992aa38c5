// SetTransform.

package informertest

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
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
func stripped(l *lines) cache.ResourceEventHandler {
	note := func(label string, obj any) {
		if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
			label = "tombstone"
			obj = tombstone.Obj
		}
		c := obj.(*corev1.ConfigMap)
		done := c.ManagedFields == nil && c.Labels["stripped"] == "yes"
		l.add("%s %s %s: %t", label, c.Name, c.ResourceVersion, done)
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

func everythingIsTransformed(t *testing.T, newInformer New) {
	r := newRig(newInformer, options{}, managed("a", "1"), managed("b", "1"))
	noError(t, r.SetTransform(strip))
	var calls lines
	r.handle(t, stripped(&calls))
	r.run(t)
	w := r.server.nextWatch()
	w.Modify(managed("a", "2"))
	w.Delete(managed("a", "3"))
	calls.wantSorted(t, "add a 1: true", "add b 1: true", "delete a 3: true", "new a 2: true", "old a 1: true")
	r.server.relist(w, managed("c", "4"))
	calls.wantSorted(t, "add c 4: true", "tombstone b 1: true")
	for _, obj := range r.GetStore().List() {
		if c := obj.(*corev1.ConfigMap); c.ManagedFields != nil {
			t.Errorf("the stored object %s has managed fields %v, want none", c.Name, c.ManagedFields)
		}
	}
	r.handle(t, stripped(&calls))
	calls.want(t, "add c 4: true")
}

// Their objects come from the store.
func tombstonesAndResyncs(t *testing.T, newInformer New) {
	r := newRig(newInformer, options{resync: time.Minute}, configMap("a", "1"), configMap("b", "1"))
	var transformed lines
	noError(t, r.SetTransform(func(obj any) (any, error) {
		transformed.add("%s", show(obj))
		return obj, nil
	}))
	handler := r.recorder(t)
	r.run(t)
	handler.wantSorted(t, "OnAdd a 1 first", "OnAdd b 1 first")
	transformed.wantSorted(t, "a 1", "b 1")
	time.Sleep(time.Minute)
	handler.wantSorted(t, "OnUpdate a 1, was 1", "OnUpdate b 1, was 1")
	transformed.want(t)
	r.server.relist(r.server.nextWatch(), configMap("a", "2"))
	handler.wantSorted(t, "OnDelete tombstone ns/b of 1", "OnUpdate a 2, was 1")
	transformed.want(t, "a 2")
}

// It may return another object. Nil stands for no transform.
func lastTransformCounts(t *testing.T, newInformer New) {
	r := newRig(newInformer, options{}, configMap("a", "1"))
	noError(t, r.SetTransform(func(any) (any, error) { return nil, errNotToday }))
	noError(t, r.SetTransform(func(obj any) (any, error) {
		return configMap("b", obj.(*corev1.ConfigMap).ResourceVersion+"7"), nil
	}))
	handler := r.recorder(t)
	r.run(t)
	w := r.server.nextWatch()
	w.Modify(configMap("a", "2"))
	w.Delete(configMap("a", "3"))
	handler.want(t, "OnAdd b 17 first", "OnUpdate b 27, was 17", "OnDelete b 37")

	r = newRig(newInformer, options{}, managed("a", "1"))
	noError(t, r.SetTransform(strip))
	noError(t, r.SetTransform(nil))
	var calls lines
	r.handle(t, stripped(&calls))
	r.run(t)
	calls.want(t, "add a 1: false")
}

// A valueObject is not a pointer, and cannot be compared with ==.
type valueObject struct {
	*metav1.ObjectMeta
	data map[string]string
}

func valuesThatCannotBeCompared(t *testing.T, newInformer New) {
	r := newRig(newInformer, options{}, configMap("a", "1"))
	noError(t, r.SetTransform(func(obj any) (any, error) {
		c := obj.(*corev1.ConfigMap)
		return valueObject{&c.ObjectMeta, c.Data}, nil
	}))
	var calls lines
	r.handle(t, cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { calls.add("add %s", obj.(valueObject).ResourceVersion) },
		UpdateFunc: func(_, obj any) { calls.add("update %s", obj.(valueObject).ResourceVersion) },
		DeleteFunc: func(obj any) {
			calls.add("delete %s", obj.(cache.DeletedFinalStateUnknown).Obj.(valueObject).ResourceVersion)
		},
	})
	r.run(t)
	w := r.server.nextWatch()
	w.Modify(configMap("a", "2"))
	w = r.server.relist(w, configMap("a", "3"))
	r.server.relist(w)
	calls.want(t, "add 1", "update 2", "update 3", "delete 3")
}

// The informer refuses the whole list, and lists again.
func listThatCannotBeTransformed(t *testing.T, newInformer New) {
	r := newRig(newInformer, options{}, configMap("a", "1"), configMap("bad", "1"))
	noError(t, r.SetTransform(func(obj any) (any, error) {
		if obj.(*corev1.ConfigMap).Name == "bad" {
			return nil, errNotToday
		}
		return obj, nil
	}))
	var failed lines
	noError(t, r.SetWatchErrorHandler(func(_ *cache.Reflector, err error) { failed.add("%v", err) }))
	handler := r.recorder(t)
	r.run(t)
	failed.want(t, "unable to sync list result: not today")
	handler.want(t)
	wantSynced(t, "after a list that was refused", false, r)
	r.server.set(configMap("a", "1"))
	time.Sleep(2 * time.Second)
	handler.want(t, "OnAdd a 1 first")
	wantSynced(t, "after the next list", true, handler)
}

// The informer goes on with the state that it has.
func eventThatCannotBeTransformed(t *testing.T, newInformer New) {
	r := newRig(newInformer, options{}, configMap("a", "1"))
	noError(t, r.SetTransform(func(obj any) (any, error) {
		switch obj.(*corev1.ConfigMap).ResourceVersion {
		case "2", "3", "4":
			return nil, errNotToday
		}
		return obj, nil
	}))
	handler := r.recorder(t)
	r.run(t)
	w := r.server.nextWatch()
	w.Modify(configMap("a", "2"))
	w.Add(configMap("b", "3"))
	w.Delete(configMap("a", "4"))
	handler.want(t, "OnAdd a 1 first")
	r.wantKeys(t, "after events that are refused", "ns/a")
	w.Modify(configMap("a", "5"))
	handler.want(t, "OnUpdate a 5, was 1")
}
