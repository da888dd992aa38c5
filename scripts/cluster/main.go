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
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
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

// asksForHelp looks for -h, but not among the arguments of exec's command.
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

// run carries out a command line, and returns the exit code.
func run(ctx context.Context, args []string) (code int, err error) {
	options := binaries.Options{Progress: os.Stderr}
	if len(args) > 0 && args[0] == "-build" {
		options.Build, args = true, args[1:]
	}
	c, err := findClone(options)
	if err != nil {
		return exitFailure, err
	}
	command := strings.Join(args, " ")
	switch command {
	case "up", "up kind", "up local", "down":
		unlock, err := c.lock(ctx, command)
		if err != nil {
			return exitFailure, err
		}
		defer unlock()
	}
	switch {
	case command == "up":
		err = c.up(ctx, "")
	case command == "up kind", command == "up local":
		err = c.up(ctx, args[1])
	case command == "down":
		if err = c.down(context.WithoutCancel(ctx)); err == nil {
			fmt.Println("cluster is down")
		}
	case command == "prepare":
		err = c.prepare(ctx)
	case strings.HasPrefix(command, "exec "):
		return c.exec(ctx, args[1:])
	default:
		return exitUsage, nil
	}
	if err != nil {
		return exitFailure, err
	}
	return exitOK, nil
}
