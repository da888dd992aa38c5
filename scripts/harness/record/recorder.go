package record

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"k8s.io/client-go/tools/cache"
)

// A Recorder is a handler that records its calls. It keeps the objects, so that their contents can
// be compared later.
type Recorder struct {
	cache.ResourceEventHandlerDetailedFuncs
	after func(n int) // called after the nth call was recorded; may be nil

	mu        sync.Mutex
	calls     []Call
	malformed []error           // one for each call with arguments that an informer must not pass
	versions  map[string]string // of the objects that exist according to the calls, by key
	removed   bool              // the handler was removed from its informer
	maxCalls  int               // how many calls there may be, if the handler was removed
}

// NewRecorder returns a recorder. If after is not nil, the recorder calls it when it has recorded
// its nth call. If after sleeps, blocks or panics, so does the handler.
func NewRecorder(after func(n int)) *Recorder {
	r := &Recorder{after: after, versions: map[string]string{}}
	r.AddFunc = func(obj any, _ bool) { r.record("OnAdd", nil, obj) }
	r.UpdateFunc = func(oldObj, newObj any) { r.record("OnUpdate", oldObj, newObj) }
	r.DeleteFunc = func(obj any) { r.record("OnDelete", nil, obj) }
	return r
}

func (r *Recorder) record(method string, oldObj, newObj any) {
	n := r.add(newCall(method, oldObj, newObj))
	if r.after != nil {
		r.after(n)
	}
}

// add adds a call, or the error of a malformed one. It returns the number of calls.
func (r *Recorder) add(call Call, err error) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.malformed = append(r.malformed, err)
		return len(r.calls)
	}
	r.calls = append(r.calls, call)
	if call.Method == "OnDelete" {
		delete(r.versions, call.Key)
	} else {
		r.versions[call.Key] = version(call.New)
	}
	return len(r.calls)
}

// Removed tells the recorder that it has just been removed from its informer. At most inFlight
// calls may still come.
func (r *Recorder) Removed(inFlight int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.removed, r.maxCalls = true, len(r.calls)+inFlight
}

// Calls returns all calls so far. It also returns an error for each malformed call, and one if
// calls came after the handler was removed.
func (r *Recorder) Calls() ([]Call, []error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	found := slices.Clone(r.malformed)
	if late := len(r.calls) - r.maxCalls; r.removed && late > 0 {
		found = append(found, fmt.Errorf("%d calls began after the handler was removed, beside those in flight", late))
	}
	return r.calls[:len(r.calls):len(r.calls)], found
}

// Behind reports whether the objects according to the calls differ from those of the server. A
// handler that was removed is never behind, because nobody calls it any more.
func (r *Recorder) Behind(server map[string]string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.removed && !maps.Equal(r.versions, server)
}

// checkVersions finds the differences between the objects according to the calls and those of the
// server. It finds none for a handler that was removed.
func (r *Recorder) checkVersions(server map[string]string) []error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.removed {
		return nil
	}
	var found []error
	for key, want := range server {
		if got := r.versions[key]; got != want {
			found = append(found, fmt.Errorf("%s is %s, the handler's last call had %q", key, want, got))
		}
	}
	for key := range r.versions {
		if server[key] == "" {
			found = append(found, fmt.Errorf("%s is not on the server, and the handler got no OnDelete", key))
		}
	}
	return found
}
