// Chapter 01: a queue of deltas, with toy pods. You build the queue of an informer, package
// deltafifo, and put client-go's queues beside it. It needs no cluster. Here the course begins.
//
// Its first page is docs/01-deltafifo.md.
package main

import (
	"embed"

	"example.com/informer/scripts/harness/step/play"
)

//go:embed testdata
var files embed.FS

var chapter = play.Chapter{
	Name:  "01-deltafifo",
	Title: "a queue of deltas, with toy pods",
	Files: files,
	Steps: []play.Step{
		{Name: "list", Title: "toy pods: added, updated, deleted, listed and popped", Run: stepList},
		{Name: "deltas", Title: "one pop gives all that happened to one pod", Run: stepDeltas},
		{Name: "callbacks", Title: "a callback for each kind of delta", Run: stepCallbacks},
		{Name: "close", Title: "how a consumer's loop ends", Run: stepClose},
		{Name: "keys", Title: "how an object gets its key", Run: stepKeys},
		{Name: "known", Title: "deleting what was popped already", Run: stepKnown},
		{Name: "replace", Title: "a new list, and the tombstones of what it lacks", Run: stepReplace},
		{Name: "realfifo", Title: "the queue that client-go's informers use today", Run: stepRealfifo},
		{Name: "informer", Title: "the prologue: client-go's informer, on a server in memory", Run: stepInformer},
	},
}

func main() { play.Main(chapter) }
