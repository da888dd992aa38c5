// Chapter 05: the WatchDog, the smallest complete informer. You build package watchdog: a loop that
// joins the queue of chapter 01, the reflector of chapter 03 and the store of chapter 04, and calls a
// handler.
//
// Its first page is docs/05-watchdog.md.
package main

import (
	"embed"

	"example.com/informer/scripts/harness/step"
	"example.com/informer/scripts/harness/step/play"
)

//go:embed testdata
var files embed.FS

var chapter = step.OnCluster(play.Chapter{
	Name:  "05-watchdog",
	Title: "the smallest complete informer",
	Files: files,
	Steps: []play.Step{
		{Name: "watchdog", Title: "a pod's life, as calls of a handler", Run: step.WithEnv(stepWatchdog), Fold: true},
		{Name: "sync", Title: "when the store is complete, and what reading it costs", Run: step.WithEnv(stepSync)},
		{Name: "tombstone", Title: "a delete that nobody saw", Run: step.WithEnv(stepTombstone)},
		{Name: "stop", Title: "how it ends", Run: step.WithEnv(stepStop)},
		{Name: "blocked", Title: "how it ends when a handler does not return", Run: step.WithEnv(stepBlocked)},
		{
			Name: "clientgo", Title: "the same handler on client-go's informers", Run: step.WithEnv(stepClientgo),
			Speakers: []string{"WatchDog", "NewInformerWithOptions", "NewInformer", "NewIndexerInformer"},
		},
	},
})

func main() { step.Main(chapter) }
