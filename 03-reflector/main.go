// Chapter 03: the Reflector, which pours LIST and WATCH into a queue.
package main

import (
	"example.com/informer/01-deltafifo/steps"
	"example.com/informer/02-listwatch/kube"
)

var cluster kube.Options // set by the flags

var chapter = steps.Chapter{
	Name:   "03-reflector",
	Title:  "LIST and WATCH poured into the queue",
	Flags:  cluster.Flags,
	Follow: cluster.Follow(follow),
	Steps: []steps.Step{
		{Name: "pour", Title: "a pod's life, as deltas", Run: cluster.Step(pour)},
		{Name: "lost", Title: "the delete that never arrives", Run: cluster.Step(lost)},
		{Name: "ours", Title: "the same with the queue of chapter 01", Run: cluster.Step(ours)},
		{Name: "relist", Title: "what was missed during a cut", Run: cluster.Step(relist)},
		{Name: "resync", Title: "the store once more, without a request", Run: cluster.Step(resync)},
		{Name: "version", Title: "where a reconnect goes on", Run: cluster.Step(version)},
		{Name: "stream", Title: "the start, with and without WatchList", Run: cluster.Step(stream)},
		{Name: "denied", Title: "no right to list, until there is", Run: cluster.Step(denied)},
	},
}

func main() { steps.Main(chapter) }
