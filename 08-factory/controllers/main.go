// Command proof runs the controllers of Kubernetes on the informers of this
// workspace: on a control plane of its own, which has no other controllers, a
// Deployment comes up, is scaled, is rolled to another image and is deleted.
// What became of it each time is printed; progress goes to stderr.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

const (
	exitFailure     = 1
	exitInterrupted = 130
)

func main() {
	signal.Ignore(syscall.SIGPIPE) // a reader that left must not keep it from cleaning up
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	err := prove(ctx, os.Stdout, os.Stderr)
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "proof: stopped")
		os.Exit(exitInterrupted)
	case err != nil:
		fmt.Fprintln(os.Stderr, "proof:", err)
		os.Exit(exitFailure)
	}
}
