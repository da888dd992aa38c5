// Tests of the lasting cluster of a clone.

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"example.com/informer/scripts/cluster/binaries"
	"example.com/informer/scripts/cluster/local"
	"example.com/informer/scripts/harness/must"
)

// A conflict error names a script that exists, and none for a cluster of the user's.
func TestAConflictErrorNamesScriptsThatExist(t *testing.T) {
	for maker, want := range map[string]int{byKind: 1, byLocal: 1, byYou: 0} {
		err := (&cluster{maker: maker, kubeconfig: "/a"}).conflictError()
		scripts := regexp.MustCompile(`scripts/\S+\.sh`).FindAllString(err.Error(), -1)
		if len(scripts) != want {
			t.Errorf("made by %s: the error names the scripts %q, want %d of them:\n%v", maker, scripts, want, err)
		}
		for _, script := range scripts {
			if _, statErr := os.Stat("../../" + script); statErr != nil {
				t.Errorf("made by %s: %v; the error names the script:\n%v", maker, statErr, err)
			}
		}
	}
}

// A clone removes its own cluster only. It does not remove the cluster of another clone, or of the
// tree that it was copied from.
func TestClones(t *testing.T) {
	first, second := newTree(t), newTree(t)
	first.mustRun("up", "local")
	second.mustRun("up", "local")
	copied := tree{t, t.TempDir() + "/copied"}
	must.NoError(t, exec.Command("cp", "-r", first.root, copied.root).Run())

	copied.mustRun("down")
	first.wantAnswers("the first clone, after its copy is down", true)
	second.wantAnswers("the second clone, after a copy of the first is down", true)
	second.mustRun("down")
	first.wantAnswers("the first clone, after the second is down", true)
	second.wantAnswers("the second clone, after it is down", false)

	output := first.mustRun("up")
	if want := "cluster is up (local)"; !strings.Contains(output, want) {
		t.Errorf("up printed %q, want %q in it", output, want)
	}
	if strings.Contains(output, "starting") {
		t.Errorf("up printed %q, want that it finds the cluster and starts none", output)
	}
	_, line, _ := strings.Cut(output, "for kubectl: ")
	got, err := exec.Command("sh", "-c", strings.TrimSpace(line)+` && printf %s "$KUBECONFIG"`).Output()
	if want := first.path("kubeconfig"); string(got) != want || err != nil {
		t.Errorf("%s: a shell sets KUBECONFIG to %q, %v; want %q", line, got, err, want)
	}
	output = first.mustRun("exec", "sh", "-c", "echo on $KUBECONFIG")
	if want := "on " + first.path("kubeconfig"); !strings.Contains(output, want) {
		t.Errorf("exec printed %q, want %q in it", output, want)
	}
	checkLoopback(t, first.path("local"))
}

// After a reboot the processes of the cluster are gone, and other processes may have their pids.
func TestReboot(t *testing.T) {
	tree := newTree(t)
	tree.mustRun("up", "local")
	other := exec.Command("sleep", "1000")
	must.NoError(t, other.Start())
	defer func() {
		_ = other.Process.Kill()
		_ = other.Wait()
	}()
	for _, process := range local.Processes(tree.root) {
		must.NoError(t, syscall.Kill(process.PID, syscall.SIGKILL))
	}
	must.Until(t, "its processes are gone", func() bool { return len(local.Processes(tree.root)) == 0 })
	pidFiles, err := filepath.Glob(tree.path("local/.kwok/clusters/*/pids/*.pid"))
	must.NoError(t, err)
	if len(pidFiles) != 5 {
		t.Errorf("the cluster has the pid files %q, want one for each of its 5 components", pidFiles)
	}
	for _, file := range pidFiles {
		must.NoError(t, os.WriteFile(file, fmt.Append(nil, other.Process.Pid), 0o600))
	}
	output := tree.mustRun("up")
	if want := "does not answer"; !strings.Contains(output, want) {
		t.Errorf("up printed %q, want %q in it", output, want)
	}
	tree.wantAnswers("the clone, after up", true)
	tree.mustRun("down")
	if err := other.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("a process that is not the cluster's was killed: %v", err)
	}
	left, err := filepath.Glob(tree.path("*"))
	must.NoError(t, err)
	if want := []string{tree.path("bin"), tree.path("lock")}; !slices.Equal(left, want) {
		t.Errorf("after down, .cluster has %q, want %q", left, want)
	}
}

// One command makes the cluster. The other one waits, and prints for which process.
func TestTwoUpsAtTheSameTime(t *testing.T) {
	tree := newTree(t)
	var commands [2]*exec.Cmd
	var outputs [2]bytes.Buffer
	for i := range commands {
		commands[i] = tree.command("up", "local")
		commands[i].Stdout, commands[i].Stderr = &outputs[i], &outputs[i]
		must.NoError(t, commands[i].Start())
	}
	for i, cmd := range commands {
		if err := cmd.Wait(); err != nil {
			t.Errorf("command %d: %v: %s", i, err, &outputs[i])
		}
	}
	maker, waiter := 0, 1
	if strings.Contains(outputs[0].String(), "waiting") {
		maker, waiter = 1, 0
	}
	made, waited := outputs[maker].String(), outputs[waiter].String()
	if want := "starting the control plane"; !strings.Contains(made, want) {
		t.Errorf("the command that makes the cluster printed\n%s\nwant %q in it", made, want)
	}
	if strings.Contains(waited, "starting") {
		t.Errorf("the command that waits printed\n%s\nwant that it starts no cluster", waited)
	}
	want := fmt.Sprintf("process %d (up local)", commands[maker].Process.Pid)
	if !strings.Contains(waited, want) {
		t.Errorf("the command that waits printed\n%s\nwant %q in it", waited, want)
	}
	tree.wantAnswers("the clone", true)
}

// up waits for a cluster that is only busy. A cluster that still does not answer stays, with its
// data.
func TestABusyClusterStays(t *testing.T) {
	tree := newTree(t)
	tree.mustRun("up", "local")
	kubectl := func(args ...string) {
		t.Helper()
		_, err := binaries.RunKubectl(t.Context(), tree.path("bin/kubectl"), tree.path("kubeconfig"), args...)
		must.NoError(t, err)
	}
	kubectl("create", "configmap", "kept")
	server := local.Processes(tree.path("local"))[local.APIServer].PID
	must.NoError(t, syscall.Kill(server, syscall.SIGSTOP))

	up := tree.command("up")
	stderr, err := up.StderrPipe()
	must.NoError(t, err)
	must.NoError(t, up.Start())
	waits := false
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		t.Log(lines.Text())
		if strings.Contains(lines.Text(), "waiting") {
			waits = true
			must.NoError(t, syscall.Kill(server, syscall.SIGCONT))
		}
	}
	if err := up.Wait(); err != nil {
		t.Errorf("up of a busy cluster: %v", err)
	}
	if !waits {
		t.Error("up of a busy cluster printed no line with \"waiting\"")
	}
	kubectl("get", "configmap", "kept")

	hurry(t)
	must.NoError(t, syscall.Kill(server, syscall.SIGSTOP))
	t.Chdir(tree.root)
	for _, args := range [][]string{{"up"}, {"up", "local"}, {"exec", "true"}} {
		wantFailure(t, args, "scripts/local-down.sh")
	}
	must.NoError(t, syscall.Kill(server, syscall.SIGCONT))
	kubectl("get", "configmap", "kept")
}

// up starts etcd again if it has ended, and the cluster keeps its data. If etcd does not start again,
// the error says so.
func TestUpStartsEtcdAgain(t *testing.T) {
	tree := newTree(t)
	tree.mustRun("up", "local")
	kubectl := func(args ...string) {
		t.Helper()
		_, err := binaries.RunKubectl(t.Context(), tree.path("bin/kubectl"), tree.path("kubeconfig"), args...)
		must.NoError(t, err)
	}
	etcd := func() int { return local.Processes(tree.path("local"))[local.Etcd].PID }
	killEtcd := func() {
		t.Helper()
		pid := etcd()
		if pid == 0 {
			t.Fatal("etcd does not run")
		}
		must.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
		must.Until(t, "etcd is gone", func() bool { return etcd() == 0 })
	}
	kubectl("create", "configmap", "kept")
	killEtcd()
	output := tree.mustRun("up")
	if want := "are started again: etcd\n"; !strings.Contains(output, want) {
		t.Errorf("up printed %q, want %q in it", output, want)
	}
	kubectl("get", "configmap", "kept")

	programs, err := filepath.Glob(tree.path("local/.kwok/clusters/*/bin/etcd"))
	must.NoError(t, err)
	must.NoError(t, os.Remove(programs[0]))
	must.NoError(t, os.WriteFile(programs[0], []byte("#!/bin/sh\necho no space left >&2; exit 1\n"), 0o755))
	killEtcd()
	t.Chdir(tree.root)
	for _, args := range [][]string{{"up"}, {"exec", "true"}} {
		wantFailure(t, args, "etcd has ended 3 times: no space left")
	}
}

// A link that leads nowhere is no kubeconfig: up replaces it.
func TestUpReplacesALinkThatLeadsNowhere(t *testing.T) {
	tree := newTree(t)
	must.NoError(t, os.MkdirAll(tree.path(""), 0o755))
	must.NoError(t, os.Symlink("gone", tree.path("kubeconfig")))
	tree.mustRun("up", "local")
	tree.wantAnswers("the clone", true)
}

// A cluster whose kubeconfig cannot be put into its place is ended.
func TestUpThatFailsLeavesNothing(t *testing.T) {
	tree := newTree(t)
	tree.putForeign()
	t.Chdir(tree.root)
	c, err := findClone(binaries.Options{Progress: t.Output()})
	must.NoError(t, err)
	_, err = c.create(t.Context(), plan{maker: byLocal, name: c.name(), dir: c.path("local"), lasting: true})
	if !errors.Is(err, os.ErrExist) {
		t.Errorf("create() where a kubeconfig is: error %v, want %v", err, os.ErrExist)
	}
	if left := local.Processes(tree.root); len(left) > 0 {
		t.Errorf("processes are left: %v, want none", left)
	}
	tree.wantDownKeepsForeign()
}

// wantFailure runs a command line, and wants an error with this text.
func wantFailure(t *testing.T, args []string, text string) {
	t.Helper()
	code, err := run(t.Context(), args)
	if code != exitFailure || err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("run(%q) = %d, %v; want %d and an error with %q", args, code, err, exitFailure, text)
	}
}

// foreign is a kubeconfig that was not made here.
const foreign = `{"current-context": "x", "contexts": [{"name": "x", "context": {"cluster": "x"}}],
		"clusters": [{"name": "x", "cluster": {"server": "http://127.0.0.1:1"}}]}`

// putForeign puts a kubeconfig of the user's into .cluster.
func (t tree) putForeign() {
	t.Helper()
	must.NoError(t, os.MkdirAll(t.path(""), 0o755))
	must.NoError(t, os.WriteFile(t.path("kubeconfig"), []byte(foreign), 0o600))
}

// wantDownKeepsForeign wants that down does not change the kubeconfig of the user's.
func (t tree) wantDownKeepsForeign() {
	t.Helper()
	t.mustRun("down")
	content, err := os.ReadFile(t.path("kubeconfig"))
	if string(content) != foreign || err != nil {
		t.Errorf("after down, .cluster/kubeconfig is %q, %v; want %q", content, err, foreign)
	}
}

// A kubeconfig that the user has put into .cluster stays, whether its cluster answers or not.
func TestForeignKubeconfig(t *testing.T) {
	tree := newTree(t)
	tree.putForeign()
	for _, args := range [][]string{{"up", "local"}, {"exec", "true"}} {
		output, code := tree.run(args...)
		if want := "not made here"; code != exitFailure || !strings.Contains(output, want) {
			t.Errorf("%q: exit code %d, output %q; want exit code %d and %q", args, code, output, exitFailure, want)
		}
	}
	tree.wantDownKeepsForeign()
}

// A kind cluster of another name is not removed.
func TestForeignKindCluster(t *testing.T) {
	tree := newTree(t)
	file := tree.installDocker(`"ps -a --filter label=io.x-k8s.kind.cluster=informer "*) echo informer-control-plane;;
"ps -a --filter label=io.x-k8s.kind.cluster --format"*) echo informer;;`)
	tree.putForeign()
	tree.wantDownKeepsForeign()
	calls, err := os.ReadFile(file)
	must.NoError(t, err)
	if !strings.Contains(string(calls), "ps") {
		t.Errorf("calls of docker:\n%s\nwant one of ps", calls)
	}
	if strings.Contains(string(calls), "rm -f") {
		t.Errorf("calls of docker:\n%s\nwant none of rm -f", calls)
	}
}

// A kind cluster of the clone that does not answer is not removed, because it may only be busy.
func TestABusyKindClusterStays(t *testing.T) {
	tree := newTree(t)
	t.Chdir(tree.root)
	c, err := findClone(binaries.Options{Progress: t.Output()})
	must.NoError(t, err)
	kubeconfig := strings.ReplaceAll("current-context: NAME\ncontexts: [{name: NAME, context: {cluster: x}}]\n"+
		"clusters: [{name: x, cluster: {server: 'http://127.0.0.1:1'}}]\n", "NAME", "kind-"+c.name())
	must.NoError(t, os.MkdirAll(tree.path(""), 0o755))
	must.NoError(t, os.WriteFile(c.kubeconfig(), []byte(kubeconfig), 0o600))
	file := tree.installDocker(fmt.Sprintf(
		`"ps -a --filter label=io.x-k8s.kind.cluster=%[1]s "*) echo %[1]s-control-plane;;`, c.name()))
	hurry(t)
	wantFailure(t, []string{"up"}, "scripts/kind-down.sh")
	calls, err := os.ReadFile(file)
	must.NoError(t, err)
	if strings.Contains(string(calls), "rm -f") {
		t.Errorf("calls of docker:\n%s\nwant none of rm -f", calls)
	}
}
