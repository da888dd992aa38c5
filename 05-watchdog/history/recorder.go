// What an informer calls its handlers with.

package history

import "k8s.io/client-go/tools/cache"

// A call is one of a handler.
type call struct {
	method    string
	old, new  state // new is the one that went, for OnDelete
	tombstone bool
}

// A Recorder is a handler of ConfigMaps that notes its calls. The zero value is
// ready for use.
type Recorder struct{ calls notes[call] }

// OnAdd implements cache.ResourceEventHandler.
func (r *Recorder) OnAdd(obj any, _ bool) { r.add(call{method: "OnAdd", new: stateOf(obj)}) }

// OnUpdate implements cache.ResourceEventHandler.
func (r *Recorder) OnUpdate(oldObj, newObj any) {
	r.add(call{method: "OnUpdate", old: stateOf(oldObj), new: stateOf(newObj)})
}

// OnDelete implements cache.ResourceEventHandler.
func (r *Recorder) OnDelete(obj any) {
	gone, tombstone := obj.(cache.DeletedFinalStateUnknown)
	if tombstone {
		obj = gone.Obj
	}
	r.add(call{method: "OnDelete", new: stateOf(obj), tombstone: tombstone})
}

func (r *Recorder) add(c call) { r.calls.add(c.new.name, c) }

// alive returns what must exist if the calls are all that there is to know,
// with its version.
func (r *Recorder) alive() map[string]string {
	all := map[string]string{}
	for name, calls := range r.calls.all() {
		if last := calls[len(calls)-1]; last.method != "OnDelete" {
			all[name] = last.new.version
		}
	}
	return all
}
