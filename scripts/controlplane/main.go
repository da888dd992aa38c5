// Command controlplane is a Kubernetes control plane in one binary: etcd, the
// API server, the scheduler, the controllers of namespaces and Deployments,
// and a simulated node, each a subcommand of its own that runs in the
// foreground, logs to stderr and ends on SIGTERM.
package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// A command runs with the arguments that follow its name and gives the exit code.
type command func(args []string) int

var commands = map[string]command{
	"etcd":           runEtcd,
	"kube-apiserver": runAPIServer,
	"kube-scheduler": runScheduler,
	"controllers":    runControllers,
	"node":           runNode,
	"version":        printVersion,
}

func main() {
	os.Exit(run(os.Args[1:]))
}

func run(args []string) int {
	if len(args) > 0 {
		if c, ok := commands[args[0]]; ok {
			return c(args[1:])
		}
	}
	names := slices.Sorted(maps.Keys(commands))
	fmt.Fprintln(os.Stderr, "usage: controlplane", strings.Join(names, "|"), "[flags]")
	return exitUsage
}
