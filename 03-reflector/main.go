// Chapter 03: the reflector, which keeps LIST and WATCH going. You let client-go's reflector fill
// the queue of chapter 01, and cut its connection. Then you build your own, package reflector, and
// package observer, through which the parts of an informer report what they do.
//
// Its first page is docs/03-reflector.md.
package main

import (
	"embed"

	"example.com/informer/scripts/harness/step"
)

//go:embed testdata
var files embed.FS

var chapter = step.Chapter{
	Name:  "03-reflector",
	Title: "LIST and WATCH poured into the queue",
	Files: files,
	Steps: []step.Step{
		{Name: "lost", Title: "the delete that never arrives", Run: stepLost},
		{Name: "pour", Title: "a pod's life, as deltas", Run: stepPour, Fold: true},
		{Name: "relist", Title: "what was missed during a cut", Run: stepRelist},
		{Name: "resync", Title: "the store once more, without a request", Run: stepResync},
		{Name: "stream", Title: "the start, with and without WatchList", Run: stepStream},
		{Name: "loop", Title: "a reflector of our own, one decision after the other", Run: stepLoop},
		{Name: "expired", Title: "the server has forgotten the version", Run: stepExpired},
	},
}

func main() { step.Main(chapter) }
