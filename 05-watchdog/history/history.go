// Package history runs informers side by side, in tests: it notes what happened
// to each object on the server and what an informer's handlers were called with,
// and checks that the one can be the truth about the other.
package history

import (
	"maps"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// A state is an object at one moment of its life on the server.
type state struct {
	name    string
	uid     types.UID
	version string
	value   string
	over    bool // the object was deleted; its version then is not known to us
}

func stateOf(obj any) state {
	configMap := obj.(*corev1.ConfigMap)
	return state{name: configMap.Name, uid: configMap.UID, version: configMap.ResourceVersion,
		value: configMap.Data["value"]}
}

// versions of objects, by name.
func versions[T any](objs []T) map[string]string {
	all := map[string]string{}
	for _, obj := range objs {
		s := stateOf(obj)
		all[s.name] = s.version
	}
	return all
}

// notes are on the objects of each name, in order. The zero value is ready for
// use.
type notes[T any] struct {
	mu     sync.Mutex
	byName map[string][]T
}

func (n *notes[T]) add(name string, note T) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.byName == nil {
		n.byName = map[string][]T{}
	}
	n.byName[name] = append(n.byName[name], note)
}

// all that there are so far.
func (n *notes[T]) all() map[string][]T {
	n.mu.Lock()
	defer n.mu.Unlock()
	return maps.Clone(n.byName)
}
