// Tests of the clusters of clones, with real local clusters. What needs kind is tested on
// an engine that is a shell script.

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"example.com/informer/scripts/cluster/binaries"
	"example.com/informer/scripts/cluster/local"
	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
)

// asCommand makes the test's binary the command.
const asCommand = "RUN_CLUSTER"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
	}
	goleak.VerifyTestMain(m)
}

// A tree is a working tree that stands for a clone.
type tree struct {
	*testing.T
	root string
}

func newTree(t *testing.T) tree {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	t.Setenv("KUBECONFIG", "")
	engines := t.TempDir() // kind finds them first, and they do not work
	for _, engine := range []string{"docker", "nerdctl", "podman"} {
		must.Do(t, os.WriteFile(filepath.Join(engines, engine), []byte("#!/bin/sh\nexit 1\n"), 0o755))
	}
	t.Setenv("PATH", engines+":"+os.Getenv("PATH"))
	parent, err := filepath.EvalSymlinks(t.TempDir())
	must.Do(t, err)
	root := filepath.Join(parent, "my clone") // a path is one word, whatever is in it
	mod, err := os.ReadFile("../controlplane/go.mod")
	must.Do(t, err)
	module := filepath.Join(root, "scripts", "controlplane")
	must.Do(t, os.MkdirAll(module, 0o755))
	must.Do(t, os.WriteFile(filepath.Join(module, "go.mod"), mod, 0o644))
	must.Do(t, os.WriteFile(filepath.Join(root, "go.work"), nil, 0o644))
	must.Do(t, os.Mkdir(filepath.Join(parent, "my temp"), 0o755))
	t.Setenv("TMPDIR", filepath.Join(parent, "my temp"))
	t.Cleanup(func() {
		must.Do(t, local.Remove(filepath.Join(root, ".cluster", "local")))
		if left := local.Processes(parent); len(left) > 0 {
			t.Errorf("processes that nobody removes: %v", left)
			must.Do(t, local.Remove(parent))
		}
	})
	return tree{t, root}
}

// command is the command in this tree.
func (t tree) command(args ...string) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	must.Do(t, err)
	cmd := exec.Command(program, args...)
	cmd.Dir = t.root
	cmd.Env = append(os.Environ(), asCommand+"=1")
	return cmd
}

// run runs the command and returns all that it said.
func (t tree) run(args ...string) (said string, code int) {
	t.Helper()
	cmd := t.command(args...)
	out, _ := cmd.CombinedOutput()
	t.Logf("%v: %s", args, out)
	return string(out), cmd.ProcessState.ExitCode()
}

func (t tree) good(args ...string) string {
	t.Helper()
	said, code := t.run(args...)
	if code != exitOK {
		t.Fatalf("%v: exit code %d", args, code)
	}
	return said
}

func (t tree) path(name string) string { return filepath.Join(t.root, ".cluster", name) }

func (t tree) answers() bool {
	return binaries.Answers(t.Context(), t.path("bin/kubectl"), t.path("kubeconfig")) == nil
}

// A clone removes its own cluster, and nobody else's: not that of another clone, nor that of
// the tree it was copied from.
func TestClones(t *testing.T) {
	one, other := newTree(t), newTree(t)
	one.good("up", "local")
	other.good("up", "local")
	copied := tree{t, t.TempDir() + "/copied"}
	must.Do(t, exec.Command("cp", "-r", one.root, copied.root).Run())

	copied.good("down")
	expect.That(t, one.answers() && other.answers(), "a copy has removed the cluster of the tree it was copied from")
	other.good("down")
	expect.That(t, !other.answers() && one.answers(), "a clone has removed the cluster of another one, or not its own")
	if said := one.good("up"); !strings.Contains(said, "cluster is up (local)") || strings.Contains(said, "starting") {
		t.Error("what is there is not found:", said)
	} else {
		_, line, _ := strings.Cut(said, "for kubectl: ")
		got, err := exec.Command("sh", "-c", strings.TrimSpace(line)+` && printf %s "$KUBECONFIG"`).Output()
		if want := one.path("kubeconfig"); string(got) != want || err != nil {
			t.Errorf("%s: a shell sets KUBECONFIG to %q, %v; want %q", line, got, err, want)
		}
	}
	said := one.good("exec", "sh", "-c", "echo on $KUBECONFIG")
	if !strings.Contains(said, "on "+one.path("kubeconfig")) {
		t.Error("what is there is not used:", said)
	}
	checkLoopback(t, one.path("local"))
}

// After a reboot the cluster is gone, and its pids may be somebody else's.
func TestReboot(t *testing.T) {
	tree := newTree(t)
	tree.good("up", "local")
	somebody := exec.Command("sleep", "1000")
	must.Do(t, somebody.Start())
	defer func() {
		_ = somebody.Process.Kill()
		_ = somebody.Wait()
	}()
	for _, process := range local.Processes(tree.root) {
		must.Do(t, syscall.Kill(process.PID, syscall.SIGKILL))
	}
	must.Until(t, "its processes are gone", func() bool { return len(local.Processes(tree.root)) == 0 })
	pids, err := filepath.Glob(tree.path("local/.kwok/clusters/*/pids/*.pid"))
	must.Do(t, err)
	for _, file := range pids {
		must.Do(t, os.WriteFile(file, fmt.Append(nil, somebody.Process.Pid), 0o600))
	}
	if said := tree.good("up"); !strings.Contains(said, "does not answer") || len(pids) != 5 {
		t.Error(pids, said)
	}
	expect.That(t, tree.answers(), "there is no cluster")
	tree.good("down")
	if err := somebody.Process.Signal(syscall.Signal(0)); err != nil {
		t.Error("a process that was not ours was killed:", err)
	}
	left, err := filepath.Glob(tree.path("*"))
	must.Do(t, err)
	if want := []string{tree.path("bin"), tree.path("lock")}; !slices.Equal(left, want) {
		t.Errorf("left: %q, want %q", left, want)
	}
}

// One makes the cluster, and the other one waits for it, and says for whom.
func TestTwoUpsAtTheSameTime(t *testing.T) {
	tree := newTree(t)
	var commands [2]*exec.Cmd
	var said [2]bytes.Buffer
	for i := range commands {
		commands[i] = tree.command("up", "local")
		commands[i].Stdout, commands[i].Stderr = &said[i], &said[i]
		must.Do(t, commands[i].Start())
	}
	for i, cmd := range commands {
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v: %s", err, &said[i])
		}
	}
	first, second := said[0].String(), said[1].String()
	maker := commands[0].Process.Pid
	if strings.Contains(first, "waiting") {
		first, second, maker = second, first, commands[1].Process.Pid
	}
	if !strings.Contains(first, "starting the control plane") || strings.Contains(second, "starting") ||
		!strings.Contains(second, fmt.Sprintf("process %d (up local)", maker)) {
		t.Errorf("want one that starts a cluster and one that waits for process %d; they said:\n%s\n%s",
			maker, first, second)
	}
	if !tree.answers() {
		t.Error("the cluster does not answer")
	}
}

// A cluster that is only busy is waited for. If it does not answer, it stays, with its data.
func TestABusyClusterStays(t *testing.T) {
	tree := newTree(t)
	tree.good("up", "local")
	kubectl := func(args ...string) {
		t.Helper()
		_, err := binaries.RunKubectl(t.Context(), tree.path("bin/kubectl"), tree.path("kubeconfig"), args...)
		must.Do(t, err)
	}
	kubectl("create", "configmap", "kept")
	server := local.Processes(tree.path("local"))[local.APIServer].PID
	must.Do(t, syscall.Kill(server, syscall.SIGSTOP))

	up := tree.command("up")
	output, err := up.StderrPipe()
	must.Do(t, err)
	must.Do(t, up.Start())
	waits := false
	for lines := bufio.NewScanner(output); lines.Scan(); {
		t.Log(lines.Text())
		if waits = waits || strings.Contains(lines.Text(), "waiting"); waits {
			must.Do(t, syscall.Kill(server, syscall.SIGCONT))
		}
	}
	if err := up.Wait(); err != nil || !waits {
		t.Errorf("up: %v; it said that it waits: %t", err, waits)
	}
	kubectl("get", "configmap", "kept")

	defer func(answer, busy time.Duration) { answerWithin, busyWithin = answer, busy }(answerWithin, busyWithin)
	answerWithin, busyWithin = time.Second, time.Second
	must.Do(t, syscall.Kill(server, syscall.SIGSTOP))
	t.Chdir(tree.root)
	for _, args := range [][]string{{"up"}, {"up", "local"}, {"exec", "true"}} {
		code, err := run(t.Context(), args)
		if code != exitFailure || err == nil || !strings.Contains(err.Error(), "scripts/local-down.sh") {
			t.Errorf("%v: exit code %d, error %v; want one that names scripts/local-down.sh", args, code, err)
		}
	}
	must.Do(t, syscall.Kill(server, syscall.SIGCONT))
	kubectl("get", "configmap", "kept")
}

// foreign is a kubeconfig that was not made here.
const foreign = `{"current-context": "x", "contexts": [{"name": "x", "context": {"cluster": "x"}}],
		"clusters": [{"name": "x", "cluster": {"server": "http://127.0.0.1:1"}}]}`

func (t tree) putForeign() {
	t.Helper()
	must.Do(t, os.MkdirAll(t.path(""), 0o755))
	must.Do(t, os.WriteFile(t.path("kubeconfig"), []byte(foreign), 0o600))
}

func (t tree) downKeepsForeign() {
	t.Helper()
	t.good("down")
	content, err := os.ReadFile(t.path("kubeconfig"))
	expect.That(t, string(content) == foreign && err == nil, "%s, %v", content, err)
}

// A kubeconfig that the user has put into .cluster stays, whether its cluster answers or not.
func TestForeignKubeconfig(t *testing.T) {
	tree := newTree(t)
	tree.putForeign()
	for _, args := range [][]string{{"up", "local"}, {"exec", "true"}} {
		said, code := tree.run(args...)
		expect.That(t, code == exitFailure && strings.Contains(said, "not made here"), "%v: %s", args, said)
	}
	tree.downKeepsForeign()
}

// A kind cluster that goes by another name is somebody else's.
func TestForeignKindCluster(t *testing.T) {
	tree, bin := newTree(t), t.TempDir()
	const docker = `#!/bin/sh
echo "$*" >>"$CALLS"
case "$*" in
-v) echo Docker version 99;;
"ps -a --filter label=io.x-k8s.kind.cluster=informer "*) echo informer-control-plane;;
"ps -a --filter label=io.x-k8s.kind.cluster --format"*) echo informer;;
esac`
	must.Do(t, os.WriteFile(filepath.Join(bin, "docker"), []byte(docker), 0o755))
	t.Setenv("CALLS", filepath.Join(bin, "calls"))
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	tree.putForeign()
	tree.downKeepsForeign()
	calls, err := os.ReadFile(filepath.Join(bin, "calls"))
	expect.That(t, err == nil && !strings.Contains(string(calls), "rm -f") && strings.Contains(string(calls), "ps"),
		"asked: %s, %v", calls, err)
}

// A kind cluster of our own that does not answer is not removed, because it may only be busy.
func TestABusyKindClusterStays(t *testing.T) {
	tree, bin := newTree(t), t.TempDir()
	t.Chdir(tree.root)
	c, err := findClone(binaries.Options{Progress: t.Output()})
	must.Do(t, err)
	tree.putForeign()
	ours := strings.ReplaceAll("current-context: NAME\ncontexts: [{name: NAME, context: {cluster: x}}]\n"+
		"clusters: [{name: x, cluster: {server: 'http://127.0.0.1:1'}}]\n", "NAME", "kind-"+c.name())
	must.Do(t, os.WriteFile(c.kubeconfig(), []byte(ours), 0o600))
	docker := fmt.Sprintf(`#!/bin/sh
echo "$*" >>"$CALLS"
case "$*" in
-v) echo Docker version 99;;
"ps -a --filter label=io.x-k8s.kind.cluster=%[1]s "*) echo %[1]s-control-plane;;
esac`, c.name())
	must.Do(t, os.WriteFile(filepath.Join(bin, "docker"), []byte(docker), 0o755))
	t.Setenv("CALLS", filepath.Join(bin, "calls"))
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	defer func(answer, busy time.Duration) { answerWithin, busyWithin = answer, busy }(answerWithin, busyWithin)
	answerWithin, busyWithin = time.Second, time.Second
	code, err := run(t.Context(), []string{"up"})
	if code != exitFailure || err == nil || !strings.Contains(err.Error(), "scripts/kind-down.sh") {
		t.Errorf("exit code %d, error %v; want one that names scripts/kind-down.sh", code, err)
	}
	if calls, err := os.ReadFile(filepath.Join(bin, "calls")); err != nil || strings.Contains(string(calls), "rm -f") {
		t.Errorf("asked of docker, %v:\n%s", err, calls)
	}
}

// Two at once have a cluster each, and both are gone afterwards.
func TestExec(t *testing.T) {
	tree := newTree(t)
	var commands [2]*exec.Cmd
	var said [2]bytes.Buffer
	for i := range commands {
		commands[i] = tree.command("exec", "sh", "-c", `echo "on $KUBECONFIG"; exit 7`)
		commands[i].Stdout = &said[i]
		must.Do(t, commands[i].Start())
	}
	for _, cmd := range commands {
		err := cmd.Wait()
		expect.That(t, cmd.ProcessState.ExitCode() == 7, "exit code: %v", err)
	}
	one, other := said[0].String(), said[1].String()
	expect.That(t, one != other && strings.HasPrefix(one, "on "+tree.path("exec-")), "%q, %q", one, other)
	tree.checkNothingIsLeft()
}

func (t tree) checkNothingIsLeft() {
	t.Helper()
	left, err := filepath.Glob(t.path("exec-*"))
	expect.That(t, len(left) <= 0 && err == nil, "left: %v, %v", left, err)
	must.Until(t, "its processes are gone", func() bool { return len(local.Processes(t.root)) == 0 })
}

// Interrupted whenever: while it starts, while the program runs, while it removes. And
// killed: then the cluster goes a moment later.
func TestExecIsInterrupted(t *testing.T) {
	tree := newTree(t)
	for i := range 10 {
		cmd := tree.command("exec", "sleep", "1")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		signal := []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGKILL}[i%3]
		must.Do(t, cmd.Start())
		after := rand.N(10 * time.Second)
		timer := time.AfterFunc(after, func() { _ = cmd.Process.Signal(signal) })
		err := cmd.Wait()
		timer.Stop()
		t.Logf("%v after %v: %v", signal, after, err)
		if signal == syscall.SIGKILL {
			must.Until(t, "its folder is gone", func() bool {
				left, err := filepath.Glob(tree.path("exec-*"))
				return len(left) == 0 && err == nil
			})
		}
		tree.checkNothingIsLeft()
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{nil, {"jump"}, {"up", "sideways"}, {"exec"}, {"down", "kind"}} {
		code, err := run(t.Context(), args)
		expect.That(t, code == exitUsage && err == nil, "%v: %d, %v", args, code, err)
	}
}
