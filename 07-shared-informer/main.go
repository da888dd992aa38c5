// Chapter 07: the shared informer, all of it in one.
package main

import (
	"flag"

	"example.com/informer/01-deltafifo/steps"
	"example.com/informer/02-listwatch/kube"
	"example.com/informer/07-shared-informer/web"
)

// Both are set by the flags.
var (
	cluster kube.Options
	addr    string // where the step http, and -follow, listen
)

func flags(fs *flag.FlagSet) {
	cluster.Flags(fs)
	fs.StringVar(&addr, "addr", web.DefaultAddr, "the host and port to listen on, for the step http and for -follow")
}

var chapter = steps.Chapter{
	Name:   "07-shared-informer",
	Title:  "all of it in one: our SharedIndexInformer",
	Flags:  flags,
	Follow: cluster.Follow(follow),
	Steps: []steps.Step{
		{Name: "informer", Title: "two handlers, one pod's life", Run: cluster.Step(podLife)},
		{Name: "index", Title: "pods by the label app, live", Run: cluster.Step(byApp)},
		{Name: "http", Title: "the index, served", Run: cluster.Step(overHTTP)},
		{Name: "late", Title: "a handler joins while it runs", Run: cluster.Step(late)},
		{Name: "resync", Title: "told again, without asking the server", Run: cluster.Step(resync)},
		{Name: "transform", Title: "what nobody reads is not stored", Run: cluster.Step(transform)},
		{Name: "remove", Title: "a handler leaves", Run: cluster.Step(remove)},
		{Name: "dropin", Title: "client-go's factory and a controller, on our informer", Run: cluster.Step(dropIn)},
		{Name: "once", Title: "three informers, and one with three handlers", Run: cluster.Step(once)},
	},
}

func main() { steps.Main(chapter) }
