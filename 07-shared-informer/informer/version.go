// How a program waits until the store holds its own write.

package informer

import (
	"context"
	"fmt"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// WaitForVersion returns nil when the store is as new as that resource version, such
// as the one of an object that the program has just written. It counts what the store
// holds, and not what handlers have got. It waits for an event, a list or a bookmark
// with that version or a later one; on a server where nothing happens, the next
// bookmark may be a minute away. Only versions of the informer's own resource can be
// compared.
func (i *Informer) WaitForVersion(ctx context.Context, version string) error {
	if _, err := resourceversion.CompareResourceVersion(version, version); err != nil {
		return fmt.Errorf("waiting for a version of %s: %w", i.typeName(), err)
	}
	for {
		next := i.version.next() // before the question: what changes after it will be seen
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
		case <-i.ended:
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
