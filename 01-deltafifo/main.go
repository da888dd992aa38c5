// Chapter 01: a queue of deltas, with toy pods. No cluster is needed.
package main

import "example.com/informer/01-deltafifo/steps"

var chapter = steps.Chapter{
	Name:  "01-deltafifo",
	Title: "a queue of deltas, with toy pods",
	Steps: []steps.Step{
		{Name: "list", Title: "what waits in the queue", Run: list},
		{Name: "pop", Title: "first in, first out", Run: pop},
		{Name: "deltas", Title: "one pop gives all that happened to one pod", Run: deltas},
		{Name: "callbacks", Title: "a callback for each kind of delta", Run: callbacks},
		{Name: "clientgo", Title: "the same on client-go's DeltaFIFO", Run: clientgo},
		{Name: "keys", Title: "how an object gets its key", Run: keys},
		{Name: "known", Title: "deleting what was popped already", Run: known},
		{Name: "replace", Title: "a new list, and the tombstones of what it lacks", Run: replace},
		{Name: "resync", Title: "the known objects once more, without asking the server", Run: resync},
		{Name: "realfifo", Title: "the queue that client-go's informers use today", Run: realfifo},
		{Name: "close", Title: "how a consumer's loop ends", Run: closing},
	},
}

func main() { steps.Main(chapter) }
