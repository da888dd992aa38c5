// Command clean removes what steps have left behind on a cluster.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"example.com/informer/scripts/harness/session"
)

func main() {
	cleaner := session.Cleaner{Out: os.Stdout}
	cleaner.Flags(flag.CommandLine)
	flag.BoolVar(&cleaner.All, "all", false,
		"even what belongs to a step that may still run, here or on another machine")
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), `usage: clean [FLAGS]

Removes what steps have left behind on the cluster that the chapters use, because they were killed: their
namespaces, and their definitions of custom resources with all objects of these types. Finalizers that
nobody would remove are removed. Everything else stays.

Flags:
`)
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "clean: it takes flags only, and got: %q\n", flag.Args())
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := cleaner.Clean(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "clean:", err)
		os.Exit(1)
	}
}
