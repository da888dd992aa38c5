// Tests of the command line: exit codes and messages, and that nothing stays behind.

package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"example.com/informer/scripts/cluster/internal/state"
	course "example.com/informer/scripts/harness/workspace"
)

// asMain, set in the environment, makes the test binary the command itself.
const asMain = "CLUSTER_TEST_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(asMain) != "" {
		main()
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(removeFakeCache))
}

// newWorkspace is a folder that the command takes for this workspace.
// No container engine answers there, and no cluster is set from outside.
func newWorkspace(t *testing.T) string {
	t.Helper()
	workspace, err := course.Root(".")
	if err != nil {
		t.Fatal(err)
	}
	// A path that is too long for a socket, and not one word.
	root := filepath.Join(t.TempDir(), "work space "+strings.Repeat("x", 100))
	err = errors.Join(
		os.MkdirAll(filepath.Join(root, "scripts"), 0o755),
		os.Symlink(filepath.Join(workspace, "scripts", "controlplane"), filepath.Join(root, "scripts", "controlplane")),
		os.WriteFile(filepath.Join(root, "go.work"), nil, 0o644))
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("KIND_EXPERIMENTAL_PROVIDER", "docker")
	t.Setenv("DOCKER_HOST", "unix://"+filepath.Join(root, "no.sock"))
	t.Setenv("DOCKER_CONTEXT", "")
	t.Setenv("KUBECONFIG", "")
	t.Setenv("KUBEBUILDER_ASSETS", "")
	return root
}

// result of a command that has ended.
type result struct {
	code           int
	stdout, stderr string
}

// command prepares the command in a process of its own.
func command(root string, args ...string) (*exec.Cmd, func(error) result) {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), asMain+"=1")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	return cmd, func(err error) result {
		code, err := exitCode(err)
		if err != nil {
			code = -1
		}
		return result{code, stdout.String(), stderr.String()}
	}
}

func cluster(root string, args ...string) result {
	cmd, end := command(root, args...)
	return end(cmd.Run())
}

func (r result) check(t *testing.T, code int, stderr ...string) {
	t.Helper()
	if r.code != code {
		t.Errorf("exit code %d, want %d", r.code, code)
	}
	for _, want := range stderr {
		if !strings.Contains(r.stderr, want) {
			t.Errorf("%q is not said", want)
		}
	}
	if t.Failed() {
		t.Fatalf("stdout: %s\nstderr: %s", r.stdout, r.stderr)
	}
}

func TestWrongUsage(t *testing.T) {
	root := newWorkspace(t)
	for _, args := range [][]string{
		{}, {"-h"}, {"upp"}, {"up", "minikube"}, {"up", "kind", "local"}, {"down", "auto"}, {"status", "now"}, {"exec"},
	} {
		cluster(root, args...).check(t, exitUsage, "up", "down", "status", "exec", "kind", "local", "auto")
	}
}

func TestNoCluster(t *testing.T) {
	root := newWorkspace(t)
	cluster(root, "status").check(t, exitFailure, "no cluster", "scripts/kind-up.sh", "scripts/local-up.sh")
	for _, args := range [][]string{{"down"}, {"down", "kind"}, {"down", "local"}} {
		r := cluster(root, args...)
		r.check(t, exitOK)
		if r.stdout != "no cluster to remove\n" {
			t.Errorf("%v: %q", args, r.stdout)
		}
	}
	cluster(t.TempDir(), "status").check(t, exitFailure, "go.work")
}

func TestNoEngine(t *testing.T) {
	root := newWorkspace(t)
	r := cluster(root, "up", "kind")
	r.check(t, exitFailure, "no container engine answers", "scripts/local-up.sh")
	if strings.Count(r.stderr, "\n") != 1 {
		t.Errorf("more than a line: %s", r.stderr)
	}
	cluster(root, "status").check(t, exitFailure, "no cluster")
}

func TestYourClusterDoesNotAnswer(t *testing.T) {
	root := newWorkspace(t)
	t.Setenv("KUBECONFIG", filepath.Join(root, "mine"))
	for _, args := range [][]string{{"up"}, {"up", "auto"}, {"exec", "true"}, {"status"}} {
		cluster(root, args...).check(t, exitFailure, "KUBECONFIG="+filepath.Join(root, "mine"), "no such file")
	}
	if _, err := os.Stat(string(state.Of(root))); err == nil {
		t.Error("a cluster was begun all the same")
	}
}

func TestCacheCannotBeWritten(t *testing.T) {
	root := newWorkspace(t)
	file := filepath.Join(root, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CACHE_HOME", file)
	t.Setenv("GOCACHE", filepath.Join(root, "gocache"))
	r := cluster(root, "up", "local")
	r.check(t, exitFailure, file, "XDG_CACHE_HOME")
	if strings.Count(r.stderr, "\n") > 2 {
		t.Errorf("more than two lines: %s", r.stderr)
	}
}

func TestComponentDies(t *testing.T) {
	root := newWorkspace(t)
	for name, script := range map[string]string{"etcd": "exec sleep 1000",
		"kube-apiserver": "echo no luck today; exit 1"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("KUBEBUILDER_ASSETS", root)
	log := filepath.Join(root, ".cluster", "logs", "kube-apiserver.log")
	cluster(root, "up", "local").check(t, exitFailure, "kube-apiserver ended", "no luck today", log)
	if _, err := os.Stat(log); err != nil {
		t.Error(err)
	}
	cluster(root, "status").check(t, exitFailure, "no cluster")
}

// alive reports whether a process runs; one that has ended but was not reaped
// yet (in a container, often for a long time) does not.
func alive(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err == nil {
		code, _, _ := strings.Cut(string(stat[bytes.LastIndexByte(stat, ')')+2:]), " ")
		return code != "Z"
	}
	return syscall.Kill(pid, 0) == nil
}

// within polls until ok, or fails the test.
func within(t *testing.T, limit time.Duration, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(limit); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("after %s still not so: %s", limit, what)
		}
	}
}
