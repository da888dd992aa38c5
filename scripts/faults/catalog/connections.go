// Faults of the connection that the watches come over.

package catalog

import "example.com/informer/scripts/faults/bout"

var connections = []bout.Fault{
	{
		Name:    "connection reset",
		Do:      steps{bout.Meanwhile, reset, miss},
		Noticed: rewatched,
	},
	{
		Name:    "connection half-closed",
		Do:      steps{bout.Meanwhile, each(func(s *bout.Subject) { s.TCP.HalfClose() }), miss},
		Noticed: rewatched,
	},
	{
		// It is over soon, for the network is fine: only that these connections
		// are dead, and nobody says so.
		Name:    "connection black-holed",
		Do:      steps{bout.Meanwhile, each(func(s *bout.Subject) { s.TCP.BlackHole() }), miss},
		Noticed: rewatched,
	},
}
