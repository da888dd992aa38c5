// Chapter 02: the clients of client-go, and the two calls that every informer
// is made of: LIST and WATCH.
package main

import (
	"example.com/informer/01-deltafifo/steps"
	"example.com/informer/02-listwatch/kube"
)

var cluster kube.Options // set by the flags

var chapter = steps.Chapter{
	Name:   "02-listwatch",
	Title:  "the clients; LIST and WATCH",
	Flags:  cluster.Flags,
	Follow: cluster.Follow(follow),
	Steps: []steps.Step{
		{Name: "clientset", Title: "the typed client: ConfigMaps and their data", Run: cluster.Step(clientset)},
		{Name: "dynamic", Title: "the untyped client: a Deployment out of a YAML file", Run: cluster.Step(dynamic)},
		{Name: "discovery", Title: "which resources there are", Run: cluster.Step(discovery)},
		{Name: "list", Title: "LIST: pods through a ListWatch", Run: cluster.Step(list)},
		{Name: "watch", Title: "WATCH: a pod's whole life", Run: cluster.Step(watch)},
		{Name: "version", Title: "LIST says where WATCH goes on", Run: cluster.Step(version)},
		{Name: "gone", Title: "a WATCH from a version too old", Run: cluster.Step(gone)},
		{Name: "bookmark", Title: "a newer version to go on from, without any event", Run: cluster.Step(bookmark)},
		{Name: "stream", Title: "the initial list, streamed over the watch", Run: cluster.Step(stream)},
		{Name: "pages", Title: "LIST in pages", Run: cluster.Step(pages)},
		{Name: "select", Title: "label and field selectors in a ListWatch", Run: cluster.Step(selectors)},
	},
}

func main() { steps.Main(chapter) }
