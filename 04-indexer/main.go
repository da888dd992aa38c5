// Chapter 04: the store behind the queue, and its indexes. You build package indexer, as client-go
// has it: a map, a lock, and indexes. The chapter takes no package from earlier chapters. Only its
// last step needs a cluster.
//
// Its first page is docs/04-indexer.md.
package main

import (
	"embed"

	"example.com/informer/scripts/harness/step"
	"example.com/informer/scripts/harness/step/play"
)

//go:embed testdata
var files embed.FS

var chapter = step.OnCluster(play.Chapter{
	Name:  "04-indexer",
	Title: "the store behind the queue, and its indexes",
	Files: files,
	Steps: []play.Step{
		{Name: "store", Title: "a map with a lock, and keys", Run: step.WithEnv(stepStore), Offline: true},
		{Name: "namespace", Title: "an index: by namespace", Run: step.WithEnv(stepNamespace), Offline: true},
		{
			Name: "label", Title: "an index of your own, and one with the wrong name",
			Run: step.WithEnv(stepLabel), Offline: true,
		},
		{Name: "many", Title: "one pod under several values", Run: step.WithEnv(stepMany), Offline: true},
		{
			Name: "unknown", Title: "no such index, and an index function that fails",
			Run: step.WithEnv(stepUnknown), Offline: true,
		},
		{
			Name: "shared", Title: "what is in the store is not yours to change",
			Run: step.WithEnv(stepShared), Offline: true,
		},
		{
			Name: "detector", Title: "client-go's mutation detector ends the program",
			Run: step.WithEnv(stepDetector), Offline: true,
		},
		{Name: "kind", Title: "objects without a kind, and three ways to get it back", Run: step.WithEnv(stepKind)},
	},
})

func main() { step.Main(chapter) }
