// Chapter 03: the reflector, which keeps LIST and WATCH going. You let client-go's reflector fill
// the queue of chapter 01, and cut its connection. Then you build your own, package reflector, and
// package observer, through which the parts of an informer report what they do.
//
// Its first page is docs/03-reflector.md.
package main

import (
	"embed"

	"example.com/informer/scripts/harness/step"
	"example.com/informer/scripts/harness/step/play"
)

//go:embed testdata
var files embed.FS

var chapter = step.OnCluster(play.Chapter{
	Name:  "03-reflector",
	Title: "LIST and WATCH poured into the queue",
	Files: files,
	Steps: []play.Step{
		{Name: "lost", Title: "the delete that never arrives", Run: step.WithEnv(stepLost)},
		{Name: "pour", Title: "a pod's life, as deltas", Run: step.WithEnv(stepPour), Fold: true},
		{Name: "relist", Title: "what was missed during a cut", Run: step.WithEnv(stepRelist)},
		{Name: "resync", Title: "the store once more, without a request", Run: step.WithEnv(stepResync)},
		{Name: "stream", Title: "the start, with and without WatchList", Run: step.WithEnv(stepStream)},
		{Name: "loop", Title: "a reflector of our own, one decision after the other", Run: step.WithEnv(stepLoop)},
		{Name: "expired", Title: "the server has forgotten the version", Run: step.WithEnv(stepExpired)},
	},
})

func main() { step.Main(chapter) }
