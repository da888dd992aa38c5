// Faults in the frames of a watch.

package catalog

import (
	"example.com/informer/docs/lab/faults/httpfault"
	"example.com/informer/docs/lab/faults/scenario"
)

var streams = []scenario.Fault{
	{Name: "watch cut in the middle of a frame", Do: inFrames(httpfault.Cut), Noticed: rewatched},
	{Name: "garbage in the watch", Do: inFrames(httpfault.Garbage), Noticed: rewatched},
	{Name: "an event of an unknown type", Do: inFrames(httpfault.UnknownType), Noticed: rewatched},
	{Name: "an ERROR event", Do: inFrames(httpfault.ErrorEvent), Noticed: rewatched},
	{Name: "an object of the wrong kind", Do: inFrames(httpfault.WrongKind)},
	{
		Name: "an object without a name", Do: inFrames(httpfault.NoName),
		KnownFailures: map[string]string{ClientGo: "stores it under the key \"namespace/\", until the next list"},
	},
}

func inFrames(fault httpfault.FrameFault) steps {
	return steps{scenario.ChangeHandlers, inject(fault), missChanges}
}
