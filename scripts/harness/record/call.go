package record

import (
	"fmt"

	"k8s.io/client-go/tools/cache"
)

// A Call is one call of a handler.
type Call struct {
	Method    string // OnAdd, OnUpdate or OnDelete
	Key       string
	Old       Object // the old object of OnUpdate; nil for the other methods
	New       Object // for OnDelete, the object that was deleted
	Tombstone bool   // OnDelete was called with a cache.DeletedFinalStateUnknown
}

// String returns the method, the key and the versions.
func (c Call) String() string {
	versions := version(c.New)
	if c.Old != nil {
		versions = version(c.Old) + " → " + versions
	}
	if c.Tombstone {
		versions += " (tombstone)"
	}
	return c.Method + " " + c.Key + " " + versions
}

// newCall returns the call for the arguments of a handler's method. It returns an error for
// arguments that an informer must not pass.
func newCall(method string, oldObj, newObj any) (Call, error) {
	call := Call{Method: method}
	tombstone, isTombstone := newObj.(cache.DeletedFinalStateUnknown)
	if isTombstone {
		if method != "OnDelete" {
			return call, fmt.Errorf("%s with a tombstone of %s", method, tombstone.Key)
		}
		call.Tombstone, newObj = true, tombstone.Obj
	}
	var isObject bool
	call.New, isObject = newObj.(Object)
	if !isObject {
		return call, fmt.Errorf("%s with a %T", method, newObj)
	}
	if method == "OnUpdate" {
		call.Old, isObject = oldObj.(Object)
		if !isObject {
			return call, fmt.Errorf("%s with a %T as the old object", method, oldObj)
		}
	}
	call.Key = cache.MetaObjectToName(call.New).String()
	if call.Tombstone && tombstone.Key != call.Key {
		return call, fmt.Errorf("the tombstone of %s holds %s", tombstone.Key, call.Key)
	}
	return call, nil
}
