// Command cluster makes and removes Kubernetes clusters for this clone of the workspace.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"example.com/informer/scripts/cluster/binaries"
	"example.com/informer/scripts/cluster/kind"
)

const (
	exitOK = iota
	exitFailure
	exitUsage
	exitInterrupted = 130
)

const usage = `usage: cluster [-build] COMMAND

  up [kind|local]        make a cluster that lasts, or find the one that is there; without a word:
                         the cluster that is there, else kind where an engine answers, else local
  down                   remove the cluster that up made
  exec COMMAND [ARG...]  run COMMAND with KUBECONFIG set, on the cluster that is there, or else on one
                         that is made for it and removed with it
  prepare                get the programs that exec will need

-build builds the programs of a local cluster from Go modules, even where they can be downloaded.
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	code, err := run(ctx, os.Args[1:])
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "interrupted: what was begun has been undone")
		code = exitInterrupted
	case code == exitUsage && err == nil:
		fmt.Fprint(os.Stderr, usage)
	case err != nil:
		fmt.Fprintln(os.Stderr, "error:", err)
	}
	os.Exit(code)
}

// run carries out a command line.
func run(ctx context.Context, args []string) (code int, err error) {
	options := binaries.Options{Progress: os.Stderr}
	if len(args) > 0 && args[0] == "-build" {
		options.Build, args = true, args[1:]
	}
	command, more := "", []string(nil)
	if len(args) > 0 {
		command, more = args[0], args[1:]
	}
	good := map[string]bool{
		"up":      len(more) == 0 || len(more) == 1 && slices.Contains([]string{byKind, byLocal}, more[0]),
		"down":    len(more) == 0,
		"exec":    len(more) > 0,
		"prepare": len(more) == 0,
	}
	if !good[command] {
		return exitUsage, nil
	}
	c, err := findClone(options)
	if err == nil && command != "down" {
		err = c.linkKubectl(ctx)
	}
	if err != nil {
		return exitFailure, err
	}
	switch command {
	case "up":
		err = c.printUp(ctx, append(more, "")[0])
	case "down":
		err = c.printDown(context.WithoutCancel(ctx))
	case "exec":
		return c.exec(ctx, more)
	case "prepare":
		err = c.prepare(ctx)
	}
	if err != nil {
		return exitFailure, err
	}
	return exitOK, nil
}

func (c *clone) printUp(ctx context.Context, maker string) error {
	there, err := c.up(ctx, maker)
	if err == nil {
		fmt.Printf("cluster is up (%s); for kubectl: export KUBECONFIG=%s\n", there.maker, there.kubeconfig)
	}
	return err
}

func (c *clone) printDown(ctx context.Context) error {
	maker, err := c.down(ctx)
	switch {
	case err != nil:
		return err
	case maker == "":
		fmt.Println("no cluster to remove")
	default:
		fmt.Printf("cluster is down (%s)\n", maker)
	}
	return nil
}

// prepare gets the programs of a local cluster if exec will make one.
func (c *clone) prepare(ctx context.Context) error {
	there, err := c.find(ctx)
	if there != nil || err != nil {
		return err
	}
	if _, noEngine := kind.Find(ctx); noEngine != nil {
		_, err = binaries.Get(ctx, c.options, binaries.ControlPlane...)
	}
	return err
}
