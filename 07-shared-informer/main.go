// Chapter 07: the shared informer, made from all parts. You build package informer from queues
// (chapter 01), the reflector (chapter 03), the store (chapter 04) and the processor (chapter 06). In Part II,
// package parttwo replaces the queue, the store and the channels.
//
// Its first page is docs/07-shared-informer.md.
package main

import (
	"embed"

	"example.com/informer/scripts/harness/step"
)

//go:embed testdata
var files embed.FS

var chapter = step.Chapter{
	Name:  "07-shared-informer",
	Title: "all of it in one: our SharedIndexInformer",
	Files: files,
	Flags: addFlags,
	Steps: []step.Step{
		{
			Name: "classic", Title: "the pipeline, as client-go has it", Run: stepClassic,
			Speakers: []string{"fast", "slow"},
		},
		{
			Name: "clientgo", Title: "client-go's own informer, with two handlers", Run: stepClientgo,
			Speakers: []string{"first", "second"},
		},
		{Name: "once", Title: "three informers, and one with three handlers", Run: stepOnce},
		{Name: "order", Title: "the same changes, on each of the two queues", Run: stepOrder, Offline: true},

		// The parts of Part II.
		{Name: "starved", Title: "a reader takes its time, and a writer waits", Run: stepStarved, Offline: true},
		{Name: "snapshot", Title: "our store: a list stays as it was", Run: stepSnapshot, Offline: true},
		{Name: "refused", Title: "our store: a write that fails changes nothing", Run: stepRefused, Offline: true},
		{Name: "stalled", Title: "100,000 updates while a handler is stuck", Run: stepStalled, Offline: true},
		{
			Name: "informer", Title: "two handlers, and one of them joins late", Run: stepInformer,
			Speakers: []string{"first", "late"},
		},
		{Name: "http", Title: "the index, served", Run: stepHTTP},
		{
			Name: "resync", Title: "the store once more, for the handler that wants it", Run: stepResync,
			Speakers: []string{"eager", "calm", "requests"},
		},
		{Name: "transform", Title: "what nobody reads is not stored", Run: stepTransform},
		{
			Name: "remove", Title: "a handler leaves", Run: stepRemove,
			Speakers: []string{"stays", "leaves"},
		},
		{
			Name: "dropin", Title: "client-go's factory, with our informer in it", Run: stepDropin,
			Speakers: []string{"client-go's", "ours"},
		},
		{Name: "xray", Title: "a page that shows all parts at work", Run: stepXray},
	},
}

func main() { step.Main(chapter) }
