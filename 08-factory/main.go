// Chapter 08: the factory, one informer for each type. You build package factory around the shared
// informer of chapter 07, and package metrics, which is an observer of chapter 03.
//
// Its first page is docs/08-factory.md.
package main

import (
	"embed"
	"time"

	"example.com/informer/scripts/harness/step"
)

//go:embed testdata
var files embed.FS

var chapter = step.Chapter{
	Name:  "08-factory",
	Title: "one informer for each type, and what is built on it",
	Files: files,
	Flags: addFlags,
	Steps: []step.Step{
		{Name: "factory", Title: "two types, one start, one wait", Run: stepFactory},
		{Name: "same", Title: "asked for twice, listed once", Run: stepSame},
		{Name: "options", Title: "a part of the cluster, a part of each object", Run: stepOptions},
		{Name: "listers", Title: "questions that cost no request", Run: stepListers},
		{Name: "deployments", Title: "a lister on client-go's factory, with a resync", Run: stepDeployments},
		{Name: "generic", Title: "types by their names", Run: stepGeneric},
		{
			Name: "kinds", Title: "objects that know what they are", Run: stepKinds,
			Speakers: []string{"as it comes", "with its kind"},
		},
		{Name: "forget", Title: "one informer stops, and its memory is free again", Run: stepForget},
		{
			Name: "clientgo", Title: "the same program on client-go's factory", Run: stepClientgo,
			Speakers: []string{"client-go's", "ours"},
		},
		{Name: "http", Title: "the caches, served", Run: stepHTTP},
		{Name: "custom", Title: "a type that client-go does not know", Run: stepCustom},
		{
			Name: "everything", Title: "an informer for each type that there is", Run: stepEverything,
			Patience: 2 * time.Minute,
		},
	},
}

func main() { step.Main(chapter) }
