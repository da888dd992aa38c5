// Chapter 05: the WatchDog, the smallest complete informer.
package main

import (
	"example.com/informer/01-deltafifo/steps"
	"example.com/informer/02-listwatch/kube"
)

var cluster kube.Options // set by the flags

var chapter = steps.Chapter{
	Name:   "05-watchdog",
	Title:  "the smallest complete informer",
	Flags:  cluster.Flags,
	Follow: cluster.Follow(follow),
	Steps: []steps.Step{
		{Name: "watchdog", Title: "a pod's life, as calls of a handler", Run: cluster.Step(podLife)},
		{Name: "configmaps", Title: "the same type on ConfigMaps", Run: cluster.Step(configMaps)},
		{Name: "sync", Title: "when the store is complete, and what reading it costs", Run: cluster.Step(reading)},
		{Name: "tombstone", Title: "a delete that nobody saw", Run: cluster.Step(tombstone)},
		{Name: "stop", Title: "how it ends", Run: cluster.Step(stopping)},
		{Name: "clientgo", Title: "the same handler on client-go's informers", Run: cluster.Step(clientgo)},
	},
}

func main() { steps.Main(chapter) }
