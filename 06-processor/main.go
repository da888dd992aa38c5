// Chapter 06: one event, many handlers. You build package processor, which gives each handler a
// buffer and goroutines of its own, as client-go does. From earlier chapters it takes only the
// observer of chapter 03. It needs no cluster.
//
// Its first page is docs/06-processor.md.
package main

import (
	"embed"

	"example.com/informer/scripts/harness/step/play"
)

//go:embed testdata
var files embed.FS

var chapter = play.Chapter{
	Name:  "06-processor",
	Title: "one event, many handlers",
	Files: files,
	Steps: []play.Step{
		{Name: "listener", Title: "an add side that never waits, and a run side that takes its time",
			Run: stepListener},
		{Name: "shared", Title: "two handlers, the same events", Run: stepShared,
			Speakers: []string{"first", "second"}},
		{Name: "slow", Title: "one handler takes a second for each event; the other does not notice", Run: stepSlow},
		{Name: "late", Title: "a handler that joins when all is running", Run: stepLate},
		{Name: "panic", Title: "one handler panics", Run: stepPanic,
			Speakers: []string{"touchy", "calm"}},
		{Name: "stop", Title: "what a stop drops, and what it waits for", Run: stepStop},
	},
}

func main() { play.Main(chapter) }
