// Command cluster makes and removes Kubernetes clusters for this clone of the workspace.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"example.com/informer/scripts/cluster/binaries"
)

const (
	exitOK = iota
	exitFailure
	exitUsage
	exitInterrupted = 130
)

const usage = `usage: cluster [-build] COMMAND

  up [kind|local]        make a cluster that lasts, or find the one that is there; without a word:
                         kind where an engine answers, else local
  down                   remove the cluster that up made
  exec COMMAND [ARG...]  run COMMAND with KUBECONFIG set, on the cluster that is there, or else on one
                         that is made for it and removed with it
  prepare                get the programs that exec will need

-build builds the programs of a local cluster from Go modules, even where they can be downloaded.
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program immediately
	if asksForHelp(os.Args[1:]) {
		fmt.Print(usage)
		return
	}
	code, err := run(ctx, os.Args[1:])
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "interrupted: what was begun has been undone")
		code = exitInterrupted
	case err != nil:
		fmt.Fprintln(os.Stderr, "error:", err)
	case code == exitUsage:
		fmt.Fprintf(os.Stderr, "cluster: no such command: %q\n%s", strings.Join(os.Args[1:], " "), usage)
	}
	os.Exit(code)
}

// asksForHelp looks for -h, but not among the arguments of the program that exec runs.
func asksForHelp(args []string) bool {
	for _, arg := range args {
		switch arg {
		case "-h", "-help", "--help", "help":
			return true
		case "exec":
			return false
		}
	}
	return false
}

// run executes a command line, and returns the exit code.
func run(ctx context.Context, args []string) (code int, err error) {
	options := binaries.Options{Progress: os.Stderr}
	if len(args) > 0 && args[0] == "-build" {
		options.Build = true
		args = args[1:]
	}
	c, err := findClone(options)
	if err != nil {
		return exitFailure, err
	}
	if len(args) > 1 && args[0] == "exec" {
		return c.exec(ctx, args[1:])
	}
	switch command := strings.Join(args, " "); command {
	case "up":
		err = c.locked(ctx, command, func() error { return c.up(ctx, "") })
	case "up kind", "up local":
		err = c.locked(ctx, command, func() error { return c.up(ctx, args[1]) })
	case "down":
		err = c.locked(ctx, command, func() error { return c.down(context.WithoutCancel(ctx)) })
		if err == nil {
			fmt.Println("cluster is down")
		}
	case "prepare":
		err = c.prepare(ctx)
	default:
		return exitUsage, nil
	}
	if err != nil {
		return exitFailure, err
	}
	return exitOK, nil
}

// locked runs a command while it holds the lock of the clone.
func (c *clone) locked(ctx context.Context, command string, run func() error) error {
	unlock, err := c.lock(ctx, command)
	if err != nil {
		return err
	}
	defer unlock()
	return run()
}
