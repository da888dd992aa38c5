// What an informer told.

package history

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// A told is one call of a handler.
type told struct {
	method    string
	old, new  state // new is the one that went, for OnDelete
	tombstone bool
}

// Tales is a handler of ConfigMaps that writes down its calls, by the name of
// the object. The zero value is ready for use.
type Tales struct {
	mu     sync.Mutex
	byName map[string][]told
}

func (t *Tales) add(name string, call told) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byName == nil {
		t.byName = map[string][]told{}
	}
	t.byName[name] = append(t.byName[name], call)
}

// OnAdd implements cache.ResourceEventHandler.
func (t *Tales) OnAdd(obj any, _ bool) {
	configMap := obj.(*corev1.ConfigMap)
	t.add(configMap.Name, told{method: "OnAdd", new: stateOf(configMap)})
}

// OnUpdate implements cache.ResourceEventHandler.
func (t *Tales) OnUpdate(oldObj, newObj any) {
	configMap := newObj.(*corev1.ConfigMap)
	t.add(configMap.Name, told{method: "OnUpdate", old: stateOf(oldObj.(*corev1.ConfigMap)), new: stateOf(configMap)})
}

// OnDelete implements cache.ResourceEventHandler.
func (t *Tales) OnDelete(obj any) {
	gone, tombstone := obj.(cache.DeletedFinalStateUnknown)
	if tombstone {
		obj = gone.Obj
	}
	configMap := obj.(*corev1.ConfigMap)
	t.add(configMap.Name, told{method: "OnDelete", new: stateOf(configMap), tombstone: tombstone})
}

// count returns how many calls there were, and how many brought a tombstone.
func (t *Tales) count() (calls, tombstones int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, all := range t.byName {
		calls += len(all)
		for _, call := range all {
			if call.tombstone {
				tombstones++
			}
		}
	}
	return calls, tombstones
}

// alive returns what must exist if the calls are all that there is to know,
// with its version.
func (t *Tales) alive() map[string]string {
	t.mu.Lock()
	defer t.mu.Unlock()
	versions := map[string]string{}
	for name, calls := range t.byName {
		if last := calls[len(calls)-1]; last.method != "OnDelete" {
			versions[name] = last.new.version
		}
	}
	return versions
}
