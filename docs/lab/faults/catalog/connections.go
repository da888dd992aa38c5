// Faults of the connections that carry the watches.

package catalog

import "example.com/informer/docs/lab/faults/scenario"

var connections = []scenario.Fault{
	{
		Name:    "connection reset",
		Do:      steps{scenario.ChangeHandlers, reset, missChanges},
		Noticed: rewatched,
	},
	{
		Name:    "connection half-closed",
		Do:      steps{scenario.ChangeHandlers, each(func(in *scenario.Instance) { in.TCP.HalfClose() }), missChanges},
		Noticed: rewatched,
	},
	{
		// Only the open connections are dead, without a FIN or a RST. A new one
		// works.
		Name:    "connection black-holed",
		Do:      steps{scenario.ChangeHandlers, each(func(in *scenario.Instance) { in.TCP.BlackHole() }), missChanges},
		Noticed: rewatched,
	},
}
