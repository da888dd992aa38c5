// Waiting until the store holds a write of the program.

package informer

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/tools/cache"
)

// WaitForVersion returns nil when the store is as new as a resource version, such as the version of
// an object that the program has just written. Only the store counts, not the handlers.
// WaitForVersion waits for an event, a list or a bookmark with that version or a later one. On a
// server without changes, the next bookmark may be a minute away. The version must be one of the
// informer's own resource.
//
// It returns an error if the store has refused the event of exactly that version, because a
// transform or an index function has failed. The next list ends this. It also returns an error when
// the reflector has returned: nothing changes the store after that.
//
// It returns an error, too, if the queue groups changes by object, as a DeltaFIFO does. Then the
// version of the store does not say what the store holds: with a in version 3, b in version 4 and a
// in version 5 in the queue, the store has version 5 before it has b.
func (i *Informer) WaitForVersion(ctx context.Context, version string) error {
	if _, err := resourceversion.CompareResourceVersion(version, version); err != nil {
		return fmt.Errorf("waiting for a version of %s: %w", i.typeName(), err)
	}
	if _, ordered := i.queue.Queue.(cache.ReflectorBookmarkStore); !ordered {
		return fmt.Errorf("waiting for version %s of %s: the queue, a %s, keeps no order between objects",
			version, i.typeName(), i.queue.Name())
	}
	for {
		next := i.version.next() // before the checks: a change after them closes next
		if i.refusals.contains(version) {
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

// recordResult records that the store has accepted or refused a change, and wakes WaitForVersion.
// The next list is newer than all changes that were refused.
func (i *Informer) recordResult(delta cache.Delta, err error) {
	isList := delta.Type == cache.ReplacedAll
	switch {
	case isList && err == nil:
		i.refusals.clear()
	case !isList && err != nil:
		i.refusals.add(delta.Object)
	}
	i.version.send()
}

// refused notes that the transform has failed for an event.
func (i *Informer) refused(event any) {
	i.refusals.add(event)
	i.version.send()
}
