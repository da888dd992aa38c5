// Chapter 02: LIST and WATCH, and the clients. You make the two calls that every informer is made of,
// join them, and break them. The chapter builds no package, and takes none from the chapter before.
//
// Its first page is docs/02-listwatch.md.
package main

import (
	"embed"

	"example.com/informer/scripts/harness/step"
	"example.com/informer/scripts/harness/step/play"
)

//go:embed testdata
var files embed.FS

var chapter = step.OnCluster(play.Chapter{
	Name:  "02-listwatch",
	Title: "LIST and WATCH; the clients",
	Files: files,
	Steps: []play.Step{
		{Name: "list", Title: "LIST: pods through a ListWatch", Run: step.WithEnv(stepList)},
		{Name: "watch", Title: "WATCH: a pod's whole life", Run: step.WithEnv(stepWatch), Fold: true},
		{Name: "wire", Title: "what a WATCH is on the wire", Run: step.WithEnv(stepWire)},
		{Name: "version", Title: "LIST says where WATCH goes on", Run: step.WithEnv(stepVersion)},
		{Name: "gone", Title: "a WATCH from a version too old", Run: step.WithEnv(stepGone)},
		{Name: "bookmark", Title: "a newer version to go on from, without any event", Run: step.WithEnv(stepBookmark)},
		{Name: "stream", Title: "the initial list, streamed over the watch", Run: step.WithEnv(stepStream)},
		{
			Name: "write", Title: "create, update and delete; an update from an old version",
			Run: step.WithEnv(stepWrite),
		},
		{Name: "apply", Title: "server-side apply: the same file, as often as you like", Run: step.WithEnv(stepApply)},
		{Name: "clientset", Title: "the typed client: ConfigMaps and their data", Run: step.WithEnv(stepClientset)},
		{Name: "dynamic", Title: "the untyped client: a Deployment out of a YAML file", Run: step.WithEnv(stepDynamic)},
		{Name: "discovery", Title: "which resources there are", Run: step.WithEnv(stepDiscovery)},
		{Name: "select", Title: "label and field selectors in a ListWatch", Run: step.WithEnv(stepSelect)},
		{Name: "pages", Title: "LIST in pages", Run: step.WithEnv(stepPages)},
	},
})

func main() { step.Main(chapter) }
