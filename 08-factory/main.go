// Chapter 08: the factory, one informer for each type. You build package factory around the shared
// informer of chapter 07, and package metrics, which is an observer of chapter 03.
//
// Its first page is docs/08-factory.md.
package main

import (
	"embed"
	"time"

	"example.com/informer/scripts/harness/step"
	"example.com/informer/scripts/harness/step/play"
)

//go:embed testdata
var files embed.FS

var chapter = step.OnCluster(play.Chapter{
	Name:  "08-factory",
	Title: "one informer for each type, and what is built on it",
	Files: files,
	Flags: addFlags,
	Steps: []play.Step{
		{Name: "factory", Title: "two types, one start, one wait", Run: step.WithEnv(stepFactory)},
		{Name: "same", Title: "asked for twice, listed once", Run: step.WithEnv(stepSame)},
		{Name: "options", Title: "a part of the cluster, a part of each object", Run: step.WithEnv(stepOptions)},
		{Name: "listers", Title: "questions that cost no request", Run: step.WithEnv(stepListers)},
		{
			Name: "deployments", Title: "a lister on client-go's factory, with a resync",
			Run: step.WithEnv(stepDeployments),
		},
		{Name: "generic", Title: "types by their names", Run: step.WithEnv(stepGeneric)},
		{
			Name: "kinds", Title: "objects that know what they are", Run: step.WithEnv(stepKinds),
			Speakers: []string{"as it comes", "with its kind"},
		},
		{Name: "forget", Title: "one informer stops, and its memory is free again", Run: step.WithEnv(stepForget)},
		{
			Name: "clientgo", Title: "the same program on client-go's factory", Run: step.WithEnv(stepClientgo),
			Speakers: []string{"client-go's", "ours"},
		},
		{Name: "http", Title: "the caches, served", Run: step.WithEnv(stepHTTP)},
		{Name: "custom", Title: "a type that client-go does not know", Run: step.WithEnv(stepCustom)},
		{
			Name: "everything", Title: "an informer for each type that there is", Run: step.WithEnv(stepEverything),
			Patience: 2 * time.Minute,
		},
	},
})

func main() { step.Main(chapter) }
