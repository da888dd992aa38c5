// Package record is for tests of informers: a recorder of handler calls, a checker that compares them
// and the cache with what happened on the server, and a runner of informers side by side.
package record

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// An Object is one of the server's, at one version.
type Object interface {
	metav1.Object
	runtime.Object
}

// version identifies an object at one version. An object that was deleted and
// created again under the same name has another UID.
func version(o Object) string { return fmt.Sprintf("%s@%s", o.GetUID(), o.GetResourceVersion()) }

// Versions returns the versions of objects by their keys.
func Versions(objects []Object) map[string]string {
	versions := make(map[string]string, len(objects))
	for _, o := range objects {
		versions[cache.MetaObjectToName(o).String()] = version(o)
	}
	return versions
}

// List asks the server for the objects of a resource of the core API.
func List(ctx context.Context, client rest.Interface, resource, namespace string,
	which fields.Selector) ([]Object, error) {
	lw := cache.NewListWatchFromClient(client, resource, namespace, which)
	list, err := lw.ListWithContext(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", resource, err)
	}
	var objects []Object
	err = meta.EachListItem(list, func(item runtime.Object) error {
		objects = append(objects, item.(Object))
		return nil
	})
	return objects, err
}

// A Lister is a store that can list its objects.
type Lister interface{ List() []any }

// Cached returns the objects in a store, or an error if an item is no object.
func Cached(store Lister) ([]Object, error) {
	var objects []Object
	for _, item := range store.List() {
		o, ok := item.(Object)
		if !ok {
			return nil, fmt.Errorf("the store holds a %T", item)
		}
		objects = append(objects, o)
	}
	return objects, nil
}

// UpToDate tells whether a store has what the server has, by the versions.
func UpToDate(store Lister, server map[string]string) bool {
	objects, err := Cached(store)
	return err == nil && maps.Equal(Versions(objects), server)
}

// A Call is one call of a handler.
type Call struct {
	Method    string // OnAdd, OnUpdate or OnDelete
	Key       string
	Old       Object // of OnUpdate
	New       Object // for OnDelete: the object that was deleted
	Tombstone bool
}

func (c Call) String() string {
	versions := version(c.New)
	if c.Old != nil {
		versions = version(c.Old) + " → " + versions
	}
	if c.Tombstone {
		versions += " (tombstone)"
	}
	return fmt.Sprint(c.Method, " ", c.Key, " ", versions)
}

// newCall returns an error for arguments that no informer may pass.
func newCall(method string, oldObj, newObj any) (Call, error) {
	call := Call{Method: method}
	tombstone, ok := newObj.(cache.DeletedFinalStateUnknown)
	if ok {
		if method != "OnDelete" {
			return call, fmt.Errorf("%s with a tombstone of %s", method, tombstone.Key)
		}
		call.Tombstone, newObj = true, tombstone.Obj
	}
	if call.New, ok = newObj.(Object); !ok {
		return call, fmt.Errorf("%s with a %T", method, newObj)
	}
	if method == "OnUpdate" {
		if call.Old, ok = oldObj.(Object); !ok {
			return call, fmt.Errorf("%s with a %T as the old object", method, oldObj)
		}
	}
	call.Key = cache.MetaObjectToName(call.New).String()
	if call.Tombstone && tombstone.Key != call.Key {
		return call, fmt.Errorf("the tombstone of %s holds %s", tombstone.Key, call.Key)
	}
	return call, nil
}

// A Recorder is a handler that records its calls. It keeps the objects, so that
// their contents can be compared later.
type Recorder struct {
	cache.ResourceEventHandlerDetailedFuncs
	after func(n int)

	mu        sync.Mutex
	calls     []Call
	malformed []error           // calls with arguments that no informer may pass
	versions  map[string]string // what exists, according to the calls
	removed   bool
	most      int // calls, once the handler was removed
}

// NewRecorder returns a recorder that calls after, unless it is nil, when it has
// recorded its nth call. If after sleeps, blocks or panics, so does the handler.
func NewRecorder(after func(n int)) *Recorder {
	r := &Recorder{after: after, versions: map[string]string{}}
	r.AddFunc = func(obj any, _ bool) { r.record("OnAdd", nil, obj) }
	r.UpdateFunc = func(oldObj, newObj any) { r.record("OnUpdate", oldObj, newObj) }
	r.DeleteFunc = func(obj any) { r.record("OnDelete", nil, obj) }
	return r
}

func (r *Recorder) record(method string, oldObj, newObj any) {
	call, err := newCall(method, oldObj, newObj)
	r.mu.Lock()
	if err != nil {
		r.malformed = append(r.malformed, err)
	} else {
		r.calls = append(r.calls, call)
		r.versions[call.Key] = version(call.New)
		if method == "OnDelete" {
			delete(r.versions, call.Key)
		}
	}
	n := len(r.calls)
	r.mu.Unlock()
	if r.after != nil {
		r.after(n)
	}
}

// Removed notes that the handler has just been removed from its informer. At
// most inFlight calls may still come.
func (r *Recorder) Removed(inFlight int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.removed, r.most = true, len(r.calls)+inFlight
}

// Calls returns all calls so far, and an error for each one that was malformed
// or came too late.
func (r *Recorder) Calls() ([]Call, []error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	found := slices.Clone(r.malformed)
	if late := len(r.calls) - r.most; r.removed && late > 0 {
		found = append(found, fmt.Errorf("%d calls began after the handler was removed, beside those in flight", late))
	}
	return r.calls[:len(r.calls):len(r.calls)], found
}

// Behind tells whether the calls so far do not yet add up to what the server
// has. A handler that was removed is never behind: nobody calls it any more.
func (r *Recorder) Behind(server map[string]string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.removed && !maps.Equal(r.versions, server)
}

// checkVersions finds the differences between what exists according to the calls
// and what the server has. A handler that was removed cannot know.
func (r *Recorder) checkVersions(server map[string]string) []error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.removed {
		return nil
	}
	var found []error
	for key, v := range server {
		if r.versions[key] != v {
			found = append(found, fmt.Errorf("%s is %s, the handler's last call had %q", key, v, r.versions[key]))
		}
	}
	for key := range r.versions {
		if server[key] == "" {
			found = append(found, fmt.Errorf("%s is not on the server, and the handler got no OnDelete", key))
		}
	}
	return found
}
