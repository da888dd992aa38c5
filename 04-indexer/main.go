// Chapter 04: the store behind the queue, and its indexes.
package main

import (
	"os"

	"example.com/informer/01-deltafifo/steps"
	"example.com/informer/02-listwatch/kube"
)

var cluster kube.Options // set by the flags

var chapter = steps.Chapter{
	Name:   "04-indexer",
	Title:  "the store behind the queue, and its indexes",
	Flags:  cluster.Flags,
	Follow: cluster.Follow(follow),
	Steps: []steps.Step{
		{Name: "known", Title: "with a store behind the queue, Deleted arrives", Run: cluster.Step(known)},
		{Name: "store", Title: "a map with a lock, and keys", Run: store},
		{Name: "namespace", Title: "an index: by namespace", Run: namespace},
		{Name: "label", Title: "an index of your own, and one with the wrong name", Run: label},
		{Name: "many", Title: "one pod under several values", Run: many},
		{Name: "late", Title: "an index for a store that is full already", Run: late},
		{Name: "shared", Title: "what is in the store is not yours to change", Run: shared},
		{Name: "kind", Title: "objects without a kind, and three ways to get it back", Run: cluster.Step(kind)},
		{Name: "unknown", Title: "no such index, and an index function that fails", Run: unknown},
	},
}

func main() {
	if os.Getenv(underWatch) != "" {
		changeUnderWatch()
		return
	}
	steps.Main(chapter)
}
