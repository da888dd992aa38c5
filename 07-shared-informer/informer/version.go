// How a program waits until the store holds its own write.

package informer

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// WaitForVersion returns nil when the store is as new as that resource version, such
// as the one of an object that the program has just written. It counts what the store
// holds, and not what handlers have got. It waits for an event, a list or a bookmark
// with that version or a later one; on a server where nothing happens, the next
// bookmark may be a minute away. Only versions of the informer's own resource can be
// compared.
//
// It returns an error if the store has refused the event of exactly that version (a
// transform or an index function has failed), until the next list. It returns an error
// when the reflector has returned, too: nothing changes the store after that.
func (i *Informer) WaitForVersion(ctx context.Context, version string) error {
	if _, err := resourceversion.CompareResourceVersion(version, version); err != nil {
		return fmt.Errorf("waiting for a version of %s: %w", i.typeName(), err)
	}
	for {
		next := i.version.next() // before the questions: what changes after it will be seen
		if i.refusals.has(version) {
			return fmt.Errorf("waiting for version %s of %s: the store has refused it", version, i.typeName())
		}
		current := i.indexer.LastStoreSyncResourceVersion()
		if current != "" {
			order, err := resourceversion.CompareResourceVersion(current, version)
			if err != nil {
				return fmt.Errorf("waiting for version %s of %s, the store's own cannot be compared: %w",
					version, i.typeName(), err)
			}
			if order >= 0 {
				return nil
			}
		}
		select {
		case <-next:
		case <-i.sourceEnded:
			return fmt.Errorf("waiting for version %s of %s: the informer has stopped at version %q",
				version, i.typeName(), current)
		case <-ctx.Done():
			return fmt.Errorf("waiting for version %s of %s, the store has %q: %w",
				version, i.typeName(), current, context.Cause(ctx))
		}
	}
}

// A signal can be waited for by any number of goroutines. It costs next to nothing
// while none of them waits.
type signal struct{ waiting atomic.Pointer[chan struct{}] }

// next returns a channel that the next send closes.
func (s *signal) next() <-chan struct{} {
	for {
		if waiting := s.waiting.Load(); waiting != nil {
			return *waiting
		}
		waiting := make(chan struct{})
		s.waiting.CompareAndSwap(nil, &waiting)
	}
}

func (s *signal) send() {
	if s.waiting.Load() != nil {
		close(*s.waiting.Swap(nil)) // only the reflector's goroutine sends
	}
}

// keptRefusals is how many versions are kept at most. A program waits for a write that it
// has just made, and some events may be refused for days.
const keptRefusals = 1000

// refusals are the versions of the last events that the store refused, since the last
// list.
type refusals struct {
	mu       sync.Mutex
	versions []string // the oldest first
}

func (r *refusals) add(event any) {
	object, err := meta.Accessor(event)
	if err != nil {
		return // it has no version that somebody could wait for
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.versions) == keptRefusals {
		r.versions = slices.Delete(r.versions, 0, 1)
	}
	r.versions = append(r.versions, object.GetResourceVersion())
}

func (r *refusals) has(version string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Contains(r.versions, version)
}

func (r *refusals) clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.versions = nil
}
