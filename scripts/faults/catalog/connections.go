// Faults of the connection that the watches come over.

package catalog

import (
	"context"

	"example.com/informer/scripts/faults/bout"
)

var connections = []bout.Fault{
	{
		Name:    "connection reset",
		Do:      onTheWire(func(s *bout.Subject) { s.TCP.Reset() }),
		Noticed: rewatched,
	},
	{
		Name:    "connection half-closed",
		Do:      onTheWire(func(s *bout.Subject) { s.TCP.HalfClose() }),
		Noticed: rewatched,
	},
	{
		// It is over soon, for the network is fine: only that these connections
		// are dead, and nobody says so.
		Name:    "connection black-holed",
		Do:      onTheWire(func(s *bout.Subject) { s.TCP.BlackHole() }),
		Noticed: rewatched,
	},
}

// missed is how many changes are made after a connection or a watch has broken,
// so that there is something to be lost.
const missed = 50

// onTheWire does something to every subject's connections, after handlers have
// come and gone, and has changes made that do not come over them any more.
func onTheWire(do func(*bout.Subject)) func(context.Context, *bout.Bout) error {
	return func(ctx context.Context, b *bout.Bout) error {
		if err := b.Meanwhile(ctx); err != nil {
			return err
		}
		each(b, do)
		return b.Changes(ctx, missed)
	}
}
