// Building the programs, with a line now and then on how far it is.

package binaries

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	reportEvery = 100             // packages
	cancelGrace = 5 * time.Second // for go to remove its temporary files
)

// build builds programs into a folder.
func (s *source) build(ctx context.Context, names []string, folder string, progress io.Writer) error {
	fmt.Fprintf(progress, "building %s from Go modules: minutes now, seconds from then on\n", strings.Join(names, ", "))
	start := time.Now()
	var paths []string
	for _, name := range names {
		paths = append(paths, packages[name])
	}
	all, done := 0, 0
	err := s.run(ctx, func() { all++ }, append([]string{"list", "-deps"}, paths...)...)
	if err != nil {
		return err
	}
	parts := strings.Split(s.kubernetes, ".")
	stamp := fmt.Sprintf("-s -w -X %[1]sgitVersion=%[2]s -X %[1]sgitMajor=%[3]s -X %[1]sgitMinor=%[4]s",
		"k8s.io/component-base/version.", s.kubernetes, strings.TrimPrefix(parts[0], "v"), parts[1])
	err = s.run(ctx, func() {
		if done++; done%reportEvery == 0 {
			fmt.Fprintf(progress, "  %s: %d of %d packages\n", time.Since(start).Round(time.Second), done, all)
		}
	}, append([]string{"build", "-v", "-trimpath", "-ldflags", stamp, "-o", folder + "/"}, paths...)...)
	if err != nil {
		return err
	}
	fmt.Fprintf(progress, "built in %s\n", time.Since(start).Round(time.Second))
	// go names a program after its package, which for etcd is this
	if err := os.Rename(filepath.Join(folder, "server"), filepath.Join(folder, "etcd")); !os.IsNotExist(err) {
		return err
	}
	return nil
}

// run runs go in the module, and calls onLine for each line that it prints. It has a
// process group of its own, so that its compilers end with it when ctx does.
func (s *source) run(ctx context.Context, onLine func(), args ...string) error {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = s.module
	cmd.Env = append(os.Environ(), "GOWORK=off")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		time.AfterFunc(cancelGrace, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
		return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT)
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("building from Go modules needs Go: %w", err)
	}
	var last []string
	for scanner := bufio.NewScanner(output); scanner.Scan(); last = last[max(0, len(last)-10):] {
		last = append(last, scanner.Text())
		if !strings.HasPrefix(scanner.Text(), "go: ") {
			onLine()
		}
	}
	if err = cmd.Wait(); ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("go %s in %s: %w; its last lines:\n  %s", args[0], s.module, err, strings.Join(last, "\n  "))
	}
	return nil
}
