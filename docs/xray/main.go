// Command xray shows an informer at work, in a browser, beside another: see docs/xray.md. The
// script scripts/xray.sh starts it.
package main

import (
	"embed"
	"flag"

	"example.com/informer/scripts/harness/step"
	"example.com/informer/scripts/harness/step/play"
	"example.com/informer/scripts/harness/web"
)

//go:embed testdata
var files embed.FS

// addr and compare are the values of the flags -addr and -compare.
var (
	addr    string
	compare = "parttwo,client-go"
)

var program = step.OnCluster(play.Chapter{
	Name:  "docs/xray",
	Title: "X-ray: watch an informer work",
	Files: files,
	Flags: func(flags *flag.FlagSet) {
		flags.StringVar(&addr, "addr", "",
			"the host and port to serve at (default: a free port; with -follow "+web.DefaultAddr+")")
		flags.StringVar(&compare, "compare", compare,
			"the parts to show (parttwo, realfifo or deltafifo), and what beside them (one of these, or client-go)")
	},
	Steps: []play.Step{
		{Name: "xray", Title: "a page that shows all parts at work", Run: step.WithEnv(stepXray)},
	},
})

func main() { step.Main(program) }
