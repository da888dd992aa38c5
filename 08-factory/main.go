// Chapter 08: the factory, one informer per type, served over HTTP.
package main

import (
	"flag"

	"example.com/informer/01-deltafifo/steps"
	"example.com/informer/02-listwatch/kube"
	"example.com/informer/07-shared-informer/web"
)

// These are set by the flags.
var (
	cluster kube.Options
	addr    string // where the step http, and -follow, listen
	secrets bool   // whether Secrets may be cached, and served
)

func flags(fs *flag.FlagSet) {
	cluster.Flags(fs)
	fs.StringVar(&addr, "addr", web.DefaultAddr, "the host and port to listen on, for the step http and for -follow")
	fs.BoolVar(&secrets, "secrets", false,
		"cache and show Secrets too, for the steps http and everything and for -follow")
}

var chapter = steps.Chapter{
	Name:   "08-factory",
	Title:  "one informer per type, served over HTTP",
	Flags:  flags,
	Follow: cluster.Follow(follow),
	Steps: []steps.Step{
		{Name: "factory", Title: "two types, one start, one wait", Run: cluster.Step(twoTypes)},
		{Name: "same", Title: "asked for twice, listed once", Run: cluster.Step(same)},
		{Name: "http", Title: "the caches, served", Run: cluster.Step(overHTTP)},
		{Name: "options", Title: "a part of the cluster, a part of each object", Run: cluster.Step(withOptions)},
		{Name: "listers", Title: "questions that no server hears", Run: cluster.Step(listers)},
		{Name: "generic", Title: "types by their names", Run: cluster.Step(generic)},
		{Name: "custom", Title: "a type that client-go does not know", Run: cluster.Step(custom)},
		{Name: "everything", Title: "an informer for all that there is", Run: cluster.Step(everything)},
		{Name: "forget", Title: "to drop one informer, and its memory", Run: cluster.Step(forget)},
		{Name: "kinds", Title: "objects that know what they are", Run: cluster.Step(kinds)},
		{Name: "clientgo", Title: "the same program on client-go's factory", Run: cluster.Step(sideBySide)},
		{Name: "controllers", Title: "the controllers of Kubernetes, on our factory", Run: controllers},
	},
}

func main() { steps.Main(chapter) }
