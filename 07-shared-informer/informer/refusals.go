package informer

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
)

// keptRefusals is how many versions refusals keeps. A program waits for a write that it has just
// made, but a transform may refuse events for days.
const keptRefusals = 1000

// refusals holds the versions of the latest events that the store has refused since the last list.
type refusals struct {
	mu       sync.Mutex
	versions []string // the oldest first
}

func (r *refusals) add(event any) {
	object, err := meta.Accessor(event)
	if err != nil {
		return // without a version, nobody can wait for it
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.versions) == keptRefusals {
		r.versions = slices.Delete(r.versions, 0, 1)
	}
	r.versions = append(r.versions, object.GetResourceVersion())
}

func (r *refusals) contains(version string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Contains(r.versions, version)
}

func (r *refusals) clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.versions = nil
}
