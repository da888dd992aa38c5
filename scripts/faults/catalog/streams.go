// Faults in what comes over a watch.

package catalog

import (
	"example.com/informer/scripts/faults/bout"
	"example.com/informer/scripts/faults/tamper"
)

var streams = []bout.Fault{
	{Name: "watch cut in the middle of a frame", Do: trick(tamper.Cut), Noticed: rewatched},
	{Name: "garbage in the watch", Do: trick(tamper.Garbage), Noticed: rewatched},
	{Name: "an event of an unknown type", Do: trick(tamper.UnknownType), Noticed: rewatched},
	{Name: "an ERROR event", Do: trick(tamper.ErrorEvent), Noticed: rewatched},
	{Name: "an object of the wrong kind", Do: trick(tamper.WrongKind)},
	{
		Name: "an object without a name", Do: trick(tamper.NoName),
		Beyond: map[string]string{ClientGo: "stores it under the key \"namespace/\", until the next list"},
	},
}

func trick(t tamper.Trick) steps { return steps{bout.Meanwhile, play(t), miss} }
