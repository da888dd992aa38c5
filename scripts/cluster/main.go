// Command cluster brings the workspace's Kubernetes cluster up and down.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"example.com/informer/scripts/cluster/workspace"
	course "example.com/informer/scripts/harness/workspace"
)

const (
	exitOK = iota
	exitFailure
	exitUsage
	exitInterrupted = 130
)

const usage = `usage: cluster COMMAND
  up [kind|local|auto]   make a cluster, or find the one that is there; auto (the default):
                         the cluster that is there, else kind where an engine answers, else local
  down [kind|local]      remove the cluster that up made
  status                 say whether a cluster answers
  exec COMMAND [ARG...]  run COMMAND with KUBECONFIG set, on a cluster as up auto finds or makes it;
                         of those that run at once, the last removes what exec made
`

func main() {
	ctx, cancel := withSignals()
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	cancel()
	os.Exit(code)
}

// interrupt is why a context ended: by a signal to this process.
type interrupt struct{ signal syscall.Signal }

func (i interrupt) Error() string { return "interrupted: what was begun has been undone" }

// withSignals returns a context that ends with the first signal to stop. The
// second one finds its usual effect.
func withSignals() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		select {
		case s := <-signals:
			cancel(interrupt{s.(syscall.Signal)})
		case <-ctx.Done():
		}
		signal.Stop(signals)
	}()
	return ctx, func() { cancel(nil) }
}

// run carries out a command line: results to stdout, progress and errors to stderr.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var command func(context.Context, string, []string, io.Writer, io.Writer) (int, error)
	switch name, rest := first(args); {
	case name == "up" && oneOf(rest, workspace.Kind, workspace.Local, workspace.Auto):
		command = up
	case name == "down" && oneOf(rest, workspace.Kind, workspace.Local):
		command = down
	case name == "status" && len(rest) == 0:
		command = status
	case name == "exec" && len(rest) > 0:
		command = execute
	default:
		fmt.Fprint(stderr, usage)
		return exitUsage
	}
	root, err := course.Root(".")
	code := exitFailure
	if err == nil {
		code, err = command(ctx, root, args[1:], stdout, stderr)
	}
	var i interrupt
	if errors.As(context.Cause(ctx), &i) {
		code = exitInterrupted
	}
	if errors.As(err, &i) {
		err = i // the rest says only what it was in the middle of
	}
	if err != nil {
		fmt.Fprintln(stderr, "error:", err)
	}
	return code
}

// first splits off the name of the command.
func first(args []string) (string, []string) {
	if len(args) == 0 {
		return "", nil
	}
	return args[0], args[1:]
}

// oneOf reports whether args is empty or one of the words.
func oneOf(args []string, words ...string) bool {
	return len(args) == 0 || len(args) == 1 && slices.Contains(words, args[0])
}

func up(ctx context.Context, root string, args []string, stdout, stderr io.Writer) (int, error) {
	provider := workspace.Auto
	if len(args) > 0 {
		provider = args[0]
	}
	c, err := workspace.Up(ctx, root, provider, stderr)
	if err != nil {
		return exitFailure, err
	}
	fmt.Fprintf(stdout, "cluster is up (%s); for kubectl: export KUBECONFIG=%s\n", c.Provider, c.Kubeconfig)
	return exitOK, nil
}

func down(ctx context.Context, root string, args []string, stdout, stderr io.Writer) (int, error) {
	provider, _ := first(args)
	removed, err := workspace.Down(context.WithoutCancel(ctx), root, provider, stderr)
	if err != nil {
		return exitFailure, err
	}
	if removed == "" {
		fmt.Fprintln(stdout, "no cluster to remove")
	} else {
		fmt.Fprintf(stdout, "cluster is down (%s)\n", removed)
	}
	return exitOK, nil
}

func status(ctx context.Context, root string, _ []string, stdout, _ io.Writer) (int, error) {
	line, err := workspace.Status(ctx, root)
	if err != nil {
		return exitFailure, err
	}
	fmt.Fprintln(stdout, line)
	return exitOK, nil
}
