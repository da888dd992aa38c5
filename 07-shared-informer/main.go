// Chapter 07: the shared informer, made from all parts. You build package informer from queues
// (chapter 01), the reflector (chapter 03), the store (chapter 04) and the processor (chapter 06). In Part II,
// package parttwo replaces the queue, the store and the channels.
//
// Its first page is docs/07-shared-informer.md.
package main

import (
	"embed"

	"example.com/informer/scripts/harness/step"
	"example.com/informer/scripts/harness/step/play"
)

//go:embed testdata
var files embed.FS

var chapter = step.OnCluster(play.Chapter{
	Name:  "07-shared-informer",
	Title: "all of it in one: our SharedIndexInformer",
	Files: files,
	Flags: addFlags,
	Steps: []play.Step{
		{
			Name: "classic", Title: "the pipeline, as client-go has it", Run: step.WithEnv(stepClassic),
			Speakers: []string{"fast", "slow"},
		},
		{
			Name: "clientgo", Title: "client-go's own informer, with two handlers", Run: step.WithEnv(stepClientgo),
			Speakers: []string{"first", "second"},
		},
		{Name: "once", Title: "three informers, and one with three handlers", Run: step.WithEnv(stepOnce)},
		{
			Name: "order", Title: "the same changes, on each of the two queues",
			Run: step.WithEnv(stepOrder), Offline: true,
		},

		// The parts of Part II.
		{
			Name: "starved", Title: "a reader takes its time, and a writer waits",
			Run: step.WithEnv(stepStarved), Offline: true,
		},
		{Name: "snapshot", Title: "our store: a list stays as it was", Run: step.WithEnv(stepSnapshot), Offline: true},
		{
			Name: "refused", Title: "our store: a write that fails changes nothing",
			Run: step.WithEnv(stepRefused), Offline: true,
		},
		{
			Name: "stalled", Title: "100,000 updates while a handler is stuck",
			Run: step.WithEnv(stepStalled), Offline: true,
		},
		{
			Name: "informer", Title: "two handlers, and one of them joins late", Run: step.WithEnv(stepInformer),
			Speakers: []string{"first", "late"},
		},
		{Name: "http", Title: "the index, served", Run: step.WithEnv(stepHTTP)},
		{
			Name: "resync", Title: "the store once more, for the handler that wants it", Run: step.WithEnv(stepResync),
			Speakers: []string{"eager", "calm", "requests"},
		},
		{Name: "transform", Title: "what nobody reads is not stored", Run: step.WithEnv(stepTransform)},
		{
			Name: "remove", Title: "a handler leaves", Run: step.WithEnv(stepRemove),
			Speakers: []string{"stays", "leaves"},
		},
		{
			Name: "dropin", Title: "client-go's factory, with our informer in it", Run: step.WithEnv(stepDropin),
			Speakers: []string{"client-go's", "ours"},
		},
	},
})

func main() { step.Main(chapter) }
