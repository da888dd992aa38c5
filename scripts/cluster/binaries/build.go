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
	"sync/atomic"
	"syscall"
	"time"
)

const (
	reportEvery = 10 * time.Second
	cancelGrace = 5 * time.Second // for go to remove its temporary files
)

// build builds programs into a folder. Packages that Go's build cache has are not
// counted: the figures show the work to do.
func (s *source) build(ctx context.Context, names []string, folder string, progress io.Writer) error {
	fmt.Fprintf(progress, "building %s from Go modules: minutes now, seconds from then on\n", strings.Join(names, ", "))
	start := time.Now()
	var paths []string
	for _, name := range names {
		paths = append(paths, packages[name])
	}
	stale := map[string]bool{}
	var modules, built atomic.Int64
	count := func(line string) {
		if strings.HasPrefix(line, "go: downloading ") {
			modules.Add(1)
		} else if stale[line] {
			built.Add(1)
		}
	}
	report := func(line func() string) (stop func()) {
		tick, ended := time.NewTicker(reportEvery), make(chan struct{})
		go func() {
			for {
				select {
				case <-tick.C:
					fmt.Fprintf(progress, "  %s: %s\n", time.Since(start).Round(time.Second), line())
				case <-ended:
					return
				}
			}
		}()
		return func() { tick.Stop(); close(ended) }
	}

	stop := report(func() string { return fmt.Sprintf("%d modules downloaded", modules.Load()) })
	found, err := s.run(ctx, count, append([]string{"list", "-deps", "-trimpath", "-f",
		"{{if .Stale}}{{.ImportPath}}{{end}}"}, paths...)...)
	stop()
	if err != nil {
		return err
	}
	for _, path := range found {
		stale[path] = true
	}
	stop = report(func() string { return fmt.Sprintf("%d of %d packages", built.Load(), len(stale)) })
	_, err = s.run(ctx, count, append([]string{"build", "-v", "-trimpath", "-buildvcs=false", "-ldflags", s.stamp(),
		"-o", folder + "/"}, paths...)...)
	stop()
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

// run runs go in the module, and returns the lines that it printed. It has a process
// group of its own, so that its compilers end with it when ctx does.
func (s *source) run(ctx context.Context, see func(line string), args ...string) (lines []string, err error) {
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
		return nil, err
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("building from Go modules needs Go: %w", err)
	}
	for scanner := bufio.NewScanner(output); scanner.Scan(); {
		lines = append(lines, scanner.Text())
		see(scanner.Text())
	}
	if err = cmd.Wait(); ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		err = fmt.Errorf("go %s in %s: %w; its last lines:\n  %s", args[0], s.module, err,
			strings.Join(lines[max(0, len(lines)-10):], "\n  "))
	}
	return lines, err
}
