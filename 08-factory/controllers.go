// The step controllers: the controllers of Kubernetes, on our factory.

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"example.com/informer/01-deltafifo/workspace"
)

// controllers runs a program that lives with the control plane, since a chapter
// has no use for all of Kubernetes. It makes a control plane of its own.
func controllers(ctx context.Context, out io.Writer) error {
	root, err := workspace.Root(".")
	if err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, "building the controllers of Kubernetes: minutes the first time, seconds from then on")
	cmd := exec.CommandContext(ctx, "go", "run", "-trimpath", "./proof") // with what the control plane is built with
	cmd.Dir = filepath.Join(root, "scripts", "controlplane")
	cmd.Env = append(os.Environ(), "GOWORK=off")
	cmd.Stdout, cmd.Stderr = out, os.Stderr
	// go run does not pass signals on; its group gets the interrupt instead.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = 30 * time.Second
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go run ./proof in scripts/controlplane: %w; what it said is above", err)
	}
	return nil
}
