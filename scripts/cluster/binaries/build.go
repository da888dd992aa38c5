// Building the programs from Go modules, with a line of progress now and then.

package binaries

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

const (
	reportEvery = 100             // packages
	cancelGrace = 5 * time.Second // for go to remove its temporary files
	lastLines   = 10              // of what go printed, for an error
)

// packages are the main packages of the programs, by program. They are tools of the module in
// scripts/controlplane.
var packages = map[string]string{
	"etcd":                    "go.etcd.io/etcd/server/v3",
	"kube-apiserver":          "k8s.io/kubernetes/cmd/kube-apiserver",
	"kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
	"kube-scheduler":          "k8s.io/kubernetes/cmd/kube-scheduler",
	"kubectl":                 "k8s.io/kubernetes/cmd/kubectl",
	"kwok":                    "sigs.k8s.io/kwok/cmd/kwok",
	"kwokctl":                 "sigs.k8s.io/kwok/cmd/kwokctl",
}

func (s *source) build(ctx context.Context, names []string, folder string, progress io.Writer) error {
	fmt.Fprintf(progress, "building %s from Go modules: minutes now, seconds from then on\n", strings.Join(names, ", "))
	start := time.Now()
	var paths []string
	for _, name := range names {
		paths = append(paths, packages[name])
	}
	total := 0
	if err := s.run(ctx, func() { total++ }, slices.Concat([]string{"list", "-deps"}, paths)...); err != nil {
		return err
	}
	built := 0
	countPackage := func() { // go build -v prints a line for each package
		built++
		if built%reportEvery == 0 {
			fmt.Fprintf(progress, "  %s: %d of %d packages\n", time.Since(start).Round(time.Second), built, total)
		}
	}
	flags := []string{"build", "-v", "-trimpath", "-ldflags", s.linkerFlags(), "-o", folder + "/"}
	if err := s.run(ctx, countPackage, slices.Concat(flags, paths)...); err != nil {
		return err
	}
	fmt.Fprintf(progress, "built in %s\n", time.Since(start).Round(time.Second))
	return renameEtcd(folder)
}

// linkerFlags returns the flags that write the version into the programs of Kubernetes, as a
// release does.
func (s *source) linkerFlags() string {
	parts := strings.Split(s.kubernetes, ".")
	return fmt.Sprintf("-s -w -X %[1]sgitVersion=%[2]s -X %[1]sgitMajor=%[3]s -X %[1]sgitMinor=%[4]s",
		"k8s.io/component-base/version.", s.kubernetes, strings.TrimPrefix(parts[0], "v"), parts[1])
}

// renameEtcd gives etcd its name: go names a program after its package, and the package of etcd is
// called server.
func renameEtcd(folder string) error {
	err := os.Rename(filepath.Join(folder, "server"), filepath.Join(folder, "etcd"))
	if os.IsNotExist(err) {
		return nil // etcd was not among the programs
	}
	return err
}

// run runs go in the module, and calls onLine for each line that go prints about a package. go gets
// a process group of its own, so that its compilers end with it when ctx ends.
func (s *source) run(ctx context.Context, onLine func(), args ...string) error {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = s.module
	cmd.Env = append(os.Environ(), "GOWORK=off")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	signalGroup := func(s syscall.Signal) error { return syscall.Kill(-cmd.Process.Pid, s) }
	var kill *time.Timer
	cmd.Cancel = func() error {
		kill = time.AfterFunc(cancelGrace, func() { _ = signalGroup(syscall.SIGKILL) })
		return signalGroup(syscall.SIGINT)
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
	for scanner := bufio.NewScanner(output); scanner.Scan(); {
		last = append(last, scanner.Text())
		last = last[max(0, len(last)-lastLines):]
		if !strings.HasPrefix(scanner.Text(), "go: ") { // such as "go: downloading …"
			onLine()
		}
	}
	err = cmd.Wait()
	if kill != nil { // not later: by then the number may be that of another group
		kill.Stop()
		_ = signalGroup(syscall.SIGKILL) // compilers may still run
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("go %s in %s: %w; its last lines:\n  %s", args[0], s.module, err, strings.Join(last, "\n  "))
	}
	return nil
}
