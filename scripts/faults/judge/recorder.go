// Package judge decides whether what an informer holds, and what its handlers
// were told, can be the truth about what a server has.
package judge

import (
	"fmt"
	"maps"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

// An Object is one of the server's, at one version.
type Object interface {
	metav1.Object
	runtime.Object
}

// A Call is what a handler was told.
type Call struct {
	Method    string // OnAdd, OnUpdate or OnDelete
	Key       string
	Old       Object // of OnUpdate
	New       Object // the one that went, for OnDelete
	Tombstone bool
}

func (c Call) String() string {
	s := c.Method + " " + c.Key
	if c.Old != nil {
		s += " " + version(c.Old) + " →"
	}
	s += " " + version(c.New)
	if c.Tombstone {
		s += " (tombstone)"
	}
	return s
}

// version tells an object's life and moment from all others'.
func version(o Object) string { return fmt.Sprintf("%s@%s", o.GetUID(), o.GetResourceVersion()) }

// A Recorder is a handler that writes down its calls. It keeps the objects, so
// that what is in them can be compared later.
type Recorder struct {
	then func(n int)

	mu      sync.Mutex
	calls   []Call
	strange []error           // calls that cannot be understood
	alive   map[string]string // the version of whatever must exist, if the calls are true
	before  int               // the number of calls before Removed
	removed bool

	onTheirWay int // calls, at most, when it was removed
}

// NewRecorder returns one that calls then, which can be nil, after it has
// written down the nth call. What then does, happens to the handler.
func NewRecorder(then func(n int)) *Recorder {
	return &Recorder{then: then, alive: map[string]string{}}
}

// OnAdd implements cache.ResourceEventHandler.
func (r *Recorder) OnAdd(obj any, _ bool) { r.record("OnAdd", nil, obj) }

// OnUpdate implements cache.ResourceEventHandler.
func (r *Recorder) OnUpdate(oldObj, newObj any) { r.record("OnUpdate", oldObj, newObj) }

// OnDelete implements cache.ResourceEventHandler.
func (r *Recorder) OnDelete(obj any) { r.record("OnDelete", nil, obj) }

func (r *Recorder) record(method string, oldObj, newObj any) {
	call, err := understand(method, oldObj, newObj)
	r.mu.Lock()
	switch {
	case err != nil:
		r.strange = append(r.strange, err)
	case method == "OnDelete":
		r.calls = append(r.calls, call)
		delete(r.alive, call.Key)
	default:
		r.calls = append(r.calls, call)
		r.alive[call.Key] = version(call.New)
	}
	n := len(r.calls)
	r.mu.Unlock()
	if r.then != nil {
		r.then(n)
	}
}

func understand(method string, oldObj, newObj any) (Call, error) {
	call := Call{Method: method}
	tombstone, ok := newObj.(cache.DeletedFinalStateUnknown)
	if ok {
		if method != "OnDelete" {
			return call, fmt.Errorf("%s with a tombstone of %s", method, tombstone.Key)
		}
		call.Tombstone, call.Key, newObj = true, tombstone.Key, tombstone.Obj
	}
	if call.New, ok = newObj.(Object); !ok {
		return call, fmt.Errorf("%s with a %T", method, newObj)
	}
	if method == "OnUpdate" {
		if call.Old, ok = oldObj.(Object); !ok {
			return call, fmt.Errorf("%s with a %T as the old object", method, oldObj)
		}
	}
	key, err := cache.MetaNamespaceKeyFunc(call.New)
	if err == nil && call.Tombstone && call.Key != key {
		err = fmt.Errorf("the tombstone of %s holds %s", call.Key, key)
	}
	call.Key = key
	return call, err
}

// Removed says that the informer has just been told to leave the handler alone.
// So many calls can have been on their way already.
func (r *Recorder) Removed(onTheirWay int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.removed, r.before, r.onTheirWay = true, len(r.calls), onTheirWay
}

// Calls returns all of them so far, and what was wrong with them in itself.
func (r *Recorder) Calls() (calls []Call, strange []error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	strange = append(strange, r.strange...)
	if late := len(r.calls) - r.before; r.removed && late > r.onTheirWay {
		strange = append(strange, fmt.Errorf("%d calls began after the handler was removed", late))
	}
	return r.calls[:len(r.calls):len(r.calls)], strange
}

// Lags tells whether the calls so far do not yet add up to the truth. A handler
// that was removed does not: it is told no more.
func (r *Recorder) Lags(truth map[string]string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.removed && !maps.Equal(r.alive, truth)
}
