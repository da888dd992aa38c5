// The exec command: running a program on a cluster that is there for it.

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/term"
)

// endWithin is how long the program may take to end after a signal.
const endWithin = 10 * time.Second

func execute(ctx context.Context, c *clone, args []string, stdout io.Writer) (code int, err error) {
	if len(args) == 0 {
		fmt.Fprint(c.progress, usage)
		return exitUsage, nil
	}
	cluster, err := c.use(ctx)
	if err != nil {
		return exitFailure, err
	}
	defer func() { err = errors.Join(err, cluster.remove()) }()
	if err := c.linkKubectl(ctx); err != nil {
		return exitFailure, err
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+cluster.kubeconfig)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, stdout, c.progress
	return runToEnd(ctx, cmd)
}

// runToEnd runs cmd and returns its exit code. When ctx ends, the program gets
// the same signal, and is killed if it does not heed it.
func runToEnd(ctx context.Context, cmd *exec.Cmd) (int, error) {
	// In a terminal the program stays in our process group: it may read from
	// the terminal, and Ctrl-C reaches it by itself. Elsewhere it gets a group
	// of its own, so that a signal reaches its children too.
	terminal := term.IsTerminal(int(os.Stdin.Fd()))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: !terminal}
	signal := func(s syscall.Signal) {
		if terminal {
			_ = cmd.Process.Signal(s)
		} else {
			_ = syscall.Kill(-cmd.Process.Pid, s)
		}
	}
	cmd.Cancel = func() error {
		var i interrupt
		if errors.As(context.Cause(ctx), &i) && !(terminal && i.signal == syscall.SIGINT) {
			signal(i.signal)
		}
		return os.ErrProcessDone // has Run return how the program ended, not that ctx did
	}
	cmd.WaitDelay = endWithin
	err := cmd.Run()
	if ctx.Err() != nil && cmd.Process != nil {
		signal(syscall.SIGKILL) // to children that stayed
	}
	return exitCode(err)
}

// exitCode passes on how a program ended, in the way of a shell.
func exitCode(err error) (int, error) {
	var exit *exec.ExitError
	if err == nil {
		return exitOK, nil
	}
	if !errors.As(err, &exit) {
		return exitFailure, err
	}
	if status := exit.Sys().(syscall.WaitStatus); status.Signaled() {
		return 128 + int(status.Signal()), nil
	}
	return exit.ExitCode(), nil
}
