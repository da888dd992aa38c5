package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"example.com/informer/scripts/harness/step"
	"example.com/informer/scripts/harness/workspace"
)

// stepControllers runs a program of its own, the module 08-factory/controllers:
// it needs all of Kubernetes. It starts a control plane for itself.
func stepControllers(ctx context.Context, l *step.Lesson) error {
	root, err := workspace.Root(".")
	if err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, "building the controllers of Kubernetes: minutes the first time, seconds from then on")
	cmd := exec.CommandContext(ctx, "go", "run", "-trimpath", ".") // as the control plane is built
	cmd.Dir = filepath.Join(root, "08-factory", "controllers")
	cmd.Env = append(os.Environ(), "GOWORK=off")
	cmd.Stdout, cmd.Stderr = l.Out, os.Stderr
	// go run does not pass signals on; its process group gets the interrupt instead.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = 20 * time.Second
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go run . in 08-factory/controllers: %w; what it said is above", err)
	}
	return nil
}
