// Running a program with a cluster.

package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"
)

const endWithin = 10 * time.Second // how long a program may take to end after Ctrl-C

// exec runs a program on the cluster that exists, or on one that is made for it, and returns its
// exit code.
func (c *clone) exec(ctx context.Context, args []string) (code int, err error) {
	cluster, err := c.use(ctx)
	if err != nil {
		return exitFailure, err
	}
	defer func() { err = errors.Join(err, cluster.remove()) }()
	return runProgram(ctx, cluster.kubeconfig, args)
}

// runProgram runs a program with KUBECONFIG set, and returns its exit code. When ctx ends, the
// program and all its children are interrupted, and killed if they do not end.
func runProgram(ctx context.Context, kubeconfig string, args []string) (code int, err error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	signalGroup := func(s syscall.Signal) error { return syscall.Kill(-cmd.Process.Pid, s) }
	cmd.Cancel = func() error { return signalGroup(syscall.SIGINT) }
	cmd.WaitDelay = endWithin
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		if cmd.Process != nil { // ctx did not end before the start
			_ = signalGroup(syscall.SIGKILL) // children may still run
		}
		return exitInterrupted, context.Cause(ctx)
	case errors.As(err, &exit) && exit.Exited():
		return exit.ExitCode(), nil
	case err != nil:
		return exitFailure, err
	}
	return exitOK, nil
}
