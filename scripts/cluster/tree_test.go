// A working tree for tests, with the command cluster in it.

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"example.com/informer/scripts/cluster/binaries"
	"example.com/informer/scripts/cluster/local"
	"example.com/informer/scripts/harness/must"
)

// A tree is a working tree that stands for a clone.
type tree struct {
	*testing.T
	root string
}

// newTree makes a working tree whose path has a space in it. No container engine works in it, so
// that all clusters are local ones.
func newTree(t *testing.T) tree {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	t.Setenv("KUBECONFIG", "")
	engines := t.TempDir() // kind finds these engines first, and they do not work
	for _, engine := range []string{"docker", "nerdctl", "podman"} {
		must.NoError(t, os.WriteFile(filepath.Join(engines, engine), []byte("#!/bin/sh\nexit 1\n"), 0o755))
	}
	t.Setenv("PATH", engines+":"+os.Getenv("PATH"))
	parent, err := filepath.EvalSymlinks(t.TempDir())
	must.NoError(t, err)
	root := filepath.Join(parent, "my clone")
	mod, err := os.ReadFile("../controlplane/go.mod")
	must.NoError(t, err)
	module := filepath.Join(root, "scripts", "controlplane")
	must.NoError(t, os.MkdirAll(module, 0o755))
	must.NoError(t, os.WriteFile(filepath.Join(module, "go.mod"), mod, 0o644))
	must.NoError(t, os.WriteFile(filepath.Join(root, "go.work"), nil, 0o644))
	must.NoError(t, os.Mkdir(filepath.Join(parent, "my temp"), 0o755))
	t.Setenv("TMPDIR", filepath.Join(parent, "my temp"))
	t.Cleanup(func() {
		must.NoError(t, local.Remove(filepath.Join(root, ".cluster", "local")))
		if left := local.Processes(parent); len(left) > 0 {
			t.Errorf("processes are left: %v, want none", left)
			must.NoError(t, local.Remove(parent))
		}
	})
	return tree{t, root}
}

func (t tree) command(args ...string) *exec.Cmd {
	t.Helper()
	cmd := must.Command(t, args...)
	cmd.Dir = t.root
	return cmd
}

// run runs the command, and returns its output and its exit code.
func (t tree) run(args ...string) (output string, code int) {
	t.Helper()
	cmd := t.command(args...)
	text, _ := cmd.CombinedOutput() // the exit code says whether it failed
	t.Logf("%v: %s", args, text)
	return string(text), cmd.ProcessState.ExitCode()
}

// mustRun runs the command, and ends the test if it fails.
func (t tree) mustRun(args ...string) (output string) {
	t.Helper()
	output, code := t.run(args...)
	if code != exitOK {
		t.Fatalf("%v: exit code %d, want %d", args, code, exitOK)
	}
	return output
}

func (t tree) path(name string) string { return filepath.Join(t.root, ".cluster", name) }

// answers reports whether the cluster of this tree answers.
func (t tree) answers() bool {
	return binaries.Answers(t.Context(), t.path("bin/kubectl"), t.path("kubeconfig")) == nil
}

func (t tree) wantAnswers(name string, want bool) {
	t.Helper()
	if got := t.answers(); got != want {
		t.Errorf("the cluster of %s answers: %t, want %t", name, got, want)
	}
}

// installDocker makes a script the only container engine, and returns a file that takes a line for
// each of its calls.
func (t tree) installDocker(cases string) (calls string) {
	t.Helper()
	bin := t.TempDir()
	calls = filepath.Join(bin, "calls")
	script := "#!/bin/sh\necho \"$*\" >>\"$CALLS\"\ncase \"$*\" in\n-v) echo Docker version 99;;\n" + cases + "\nesac"
	must.NoError(t, os.WriteFile(filepath.Join(bin, "docker"), []byte(script), 0o755))
	t.Setenv("CALLS", calls)
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	return calls
}

// hurry makes a cluster that does not answer in a second count as one that does not answer, until
// the end of the test.
func hurry(t *testing.T) {
	oldAnswer, oldBusy := answerWithin, busyWithin
	t.Cleanup(func() { answerWithin, busyWithin = oldAnswer, oldBusy })
	answerWithin, busyWithin = time.Second, time.Second
}
