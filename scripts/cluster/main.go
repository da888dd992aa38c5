// Command cluster makes and removes Kubernetes clusters for this clone of the workspace.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"example.com/informer/scripts/cluster/binaries"
	"example.com/informer/scripts/cluster/kind"
	"example.com/informer/scripts/cluster/ready"
)

const (
	exitOK = iota
	exitFailure
	exitUsage
	exitInterrupted = 130
)

const usage = `usage: cluster [-build] COMMAND

  up [kind|local|auto]   make a cluster that lasts, or find the one that is there; auto (the default):
                         the cluster that is there, else kind where an engine answers, else local
  down                   remove the cluster that up made
  status                 say whether a cluster answers
  exec COMMAND [ARG...]  run COMMAND with KUBECONFIG set, on the cluster that is there, or else on one
                         that is made for it and removed with it
  prepare                get the programs that exec will need

-build builds the programs of a local cluster from Go modules, even where they can be downloaded.
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
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (code int) {
	c, err := findClone(stderr)
	if len(args) > 0 && args[0] == "-build" {
		c.build, args = true, args[1:]
	}
	commands := map[string]func(context.Context, *clone, []string, io.Writer) (int, error){
		"up": up, "down": down, "status": status, "exec": execute, "prepare": prepare,
	}
	var command func(context.Context, *clone, []string, io.Writer) (int, error)
	if len(args) > 0 {
		command = commands[args[0]]
	}
	if command == nil {
		fmt.Fprint(stderr, usage)
		return exitUsage
	}
	if code = exitFailure; err == nil {
		code, err = command(ctx, c, args[1:], stdout)
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

func up(ctx context.Context, c *clone, args []string, stdout io.Writer) (int, error) {
	provider := providerAuto
	if len(args) > 0 {
		provider = args[0]
	}
	if len(args) > 1 || !slices.Contains([]string{providerKind, providerLocal, providerAuto}, provider) {
		fmt.Fprint(c.progress, usage)
		return exitUsage, nil
	}
	there, err := c.up(ctx, provider)
	if err == nil {
		err = c.linkKubectl(ctx)
	}
	if err != nil {
		return exitFailure, err
	}
	fmt.Fprintf(stdout, "cluster is up (%s); for kubectl: export KUBECONFIG=%s\n", there.provider, there.kubeconfig)
	return exitOK, nil
}

func down(ctx context.Context, c *clone, _ []string, stdout io.Writer) (int, error) {
	removed, err := c.down(context.WithoutCancel(ctx))
	switch {
	case err != nil:
		return exitFailure, err
	case len(removed) == 0:
		fmt.Fprintln(stdout, "no cluster to remove")
	default:
		fmt.Fprintf(stdout, "cluster is down (%s)\n", strings.Join(removed, ", "))
	}
	return exitOK, nil
}

func status(ctx context.Context, c *clone, _ []string, stdout io.Writer) (int, error) {
	kubeconfig := os.Getenv("KUBECONFIG")
	if kubeconfig == "" {
		kubeconfig = c.kubeconfig()
		if _, err := os.Stat(kubeconfig); err != nil {
			return exitFailure, errors.New("no cluster: scripts/kind-up.sh or scripts/local-up.sh makes one")
		}
	}
	if err := ready.Answers(ctx, kubeconfig); err != nil {
		return exitFailure, fmt.Errorf("the cluster of %s does not answer: %w", kubeconfig, err)
	}
	fmt.Fprintf(stdout, "the cluster of %s answers\n", kubeconfig)
	return exitOK, nil
}

// prepare gets what exec will need, so that other things can be done meanwhile.
func prepare(ctx context.Context, c *clone, _ []string, _ io.Writer) (int, error) {
	there, err := c.find(ctx)
	if there == nil && err == nil {
		if _, noEngine := kind.Find(ctx, c.progress); noEngine != nil {
			_, err = binaries.Get(ctx, binaries.Options{Build: c.build, Progress: c.progress}, binaries.ControlPlane...)
		}
	}
	if err == nil {
		err = c.linkKubectl(ctx)
	}
	if err != nil {
		return exitFailure, err
	}
	return exitOK, nil
}
