// Chapter 02: LIST and WATCH, and the clients. You make the two calls that every informer is made of,
// join them, and break them. The chapter builds no package, and takes none from the chapter before.
//
// Its first page is docs/02-listwatch.md.
package main

import (
	"embed"

	"example.com/informer/scripts/harness/step"
)

//go:embed testdata
var files embed.FS

var chapter = step.Chapter{
	Name:  "02-listwatch",
	Title: "LIST and WATCH; the clients",
	Files: files,
	Steps: []step.Step{
		{Name: "list", Title: "LIST: pods through a ListWatch", Run: stepList},
		{Name: "watch", Title: "WATCH: a pod's whole life", Run: stepWatch, Fold: true},
		{Name: "wire", Title: "what a WATCH is on the wire", Run: stepWire},
		{Name: "version", Title: "LIST says where WATCH goes on", Run: stepVersion},
		{Name: "gone", Title: "a WATCH from a version too old", Run: stepGone},
		{Name: "bookmark", Title: "a newer version to go on from, without any event", Run: stepBookmark},
		{Name: "stream", Title: "the initial list, streamed over the watch", Run: stepStream},
		{Name: "write", Title: "create, update and delete; an update from an old version", Run: stepWrite},
		{Name: "apply", Title: "server-side apply: the same file, as often as you like", Run: stepApply},
		{Name: "clientset", Title: "the typed client: ConfigMaps and their data", Run: stepClientset},
		{Name: "dynamic", Title: "the untyped client: a Deployment out of a YAML file", Run: stepDynamic},
		{Name: "discovery", Title: "which resources there are", Run: stepDiscovery},
		{Name: "select", Title: "label and field selectors in a ListWatch", Run: stepSelect},
		{Name: "pages", Title: "LIST in pages", Run: stepPages},
	},
}

func main() { step.Main(chapter) }
