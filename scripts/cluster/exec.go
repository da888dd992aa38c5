// The exec command: running a program on a cluster that is there for it.

package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// endWithin is how long the program may take to end after Ctrl-C.
const endWithin = 10 * time.Second

// exec runs a program and returns its exit code. When ctx ends, the program is
// interrupted, with all its children, and killed if it does not heed that.
func (c *clone) exec(ctx context.Context, args []string) (code int, err error) {
	cluster, err := c.use(ctx)
	if err != nil {
		return exitFailure, err
	}
	defer func() { err = errors.Join(err, cluster.remove()) }()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+cluster.kubeconfig)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	signal := func(s syscall.Signal) error { return syscall.Kill(-cmd.Process.Pid, s) }
	cmd.Cancel = func() error { return signal(syscall.SIGINT) }
	cmd.WaitDelay = endWithin
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		_ = signal(syscall.SIGKILL) // to children that stayed
		return exitInterrupted, context.Cause(ctx)
	case errors.As(err, &exit) && exit.Exited():
		return exit.ExitCode(), nil
	}
	if err != nil {
		return exitFailure, err
	}
	return exitOK, nil
}
