package record

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// A Change is a change of an object that the server has confirmed.
type Change struct {
	Resource string // such as pods
	Key      string
	UID      types.UID
	Version  string // has no meaning if Deleted
	Deleted  bool
	Object   Object // as written, or as it was before the delete; nil: not known
}

// describeChange describes a change of an object. Two changes are the same if their descriptions
// are equal.
func describeChange(deleted bool, uid types.UID, version string) string {
	if deleted {
		return fmt.Sprintf("deleted (%s)", uid)
	}
	return fmt.Sprintf("written (%s@%s)", uid, version)
}

// reports returns true if the call is about this change. The object of a tombstone need not have
// the last version.
func (c Call) reports(change Change) bool {
	isDelete := c.Method == "OnDelete"
	switch {
	case c.New.GetUID() != change.UID || isDelete != change.Deleted:
		return false
	case c.Tombstone:
		return true
	case !change.Deleted && c.New.GetResourceVersion() != change.Version:
		return false
	}
	return change.Object == nil || equality.Semantic.DeepEqual(unversioned(c.New), unversioned(change.Object))
}

// unversioned returns a copy of an object without the resource version, which a delete changes, and
// without the kind, which decoding adds.
func unversioned(o Object) Object {
	o = o.DeepCopyObject().(Object)
	o.SetResourceVersion("")
	o.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	return o
}
