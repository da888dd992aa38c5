// Tests of the local cluster through the command line, from up to down. The
// first one on a machine builds the control plane.

package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// pids reads which processes the cluster in root has recorded.
func pids(root string) map[string]int {
	b, _ := os.ReadFile(filepath.Join(root, ".cluster", "pids"))
	var list []struct {
		Component string
		PID       int
	}
	_ = json.Unmarshal(b, &list)
	found := map[string]int{}
	for _, r := range list {
		found[r.Component] = r.PID
	}
	return found
}

func checkGone(t *testing.T, processes map[string]int) {
	t.Helper()
	for name, pid := range processes {
		if alive(pid) {
			t.Errorf("%s, pid %d, was left running", name, pid)
		}
	}
}

// needsControlPlane leaves a test out with -short: it may have to build one.
func needsControlPlane(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a control plane, which may have to be built")
	}
}

func TestLocalLife(t *testing.T) {
	needsControlPlane(t)
	root := newWorkspace(t)
	t.Cleanup(func() { cluster(root, "down") }) // if the test fails halfway

	r := cluster(root, "up") // no engine answers: local
	r.check(t, exitOK)
	kubeconfig := filepath.Join(root, ".cluster", "kubeconfig")
	if !strings.Contains(r.stdout, kubeconfig) || !strings.Contains(r.stdout, "local") {
		t.Errorf("up says %q", r.stdout)
	}
	first := pids(root)
	if len(first) != 5 {
		t.Errorf("recorded: %v", first)
	}
	for _, args := range [][]string{{"up"}, {"up", "local"}, {"status"}} {
		cluster(root, args...).check(t, exitOK)
	}
	if again := pids(root); again["etcd"] != first["etcd"] {
		t.Errorf("the second up made another cluster: %v, then %v", first, again)
	}
	cluster(root, "up", "kind").check(t, exitFailure, "has a local cluster", "scripts/local-down.sh")

	r = cluster(root, "exec", "sh", "-c", "echo $KUBECONFIG; exit 7")
	r.check(t, 7)
	if r.stdout != kubeconfig+"\n" {
		t.Errorf("exec's program sees %q", r.stdout)
	}
	cluster(root, "status").check(t, exitOK) // it was there before exec, and stays

	if err := syscall.Kill(first["kube-scheduler"], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	within(t, 10*time.Second, "the scheduler is dead", func() bool { return !alive(first["kube-scheduler"]) })
	cluster(root, "up").check(t, exitOK, "cleaning up")
	checkGone(t, first)
	second := pids(root)

	r = cluster(root, "down")
	r.check(t, exitOK)
	if r.stdout != "cluster is down (local)\n" {
		t.Errorf("down says %q", r.stdout)
	}
	checkGone(t, second)
	left, err := os.ReadDir(filepath.Join(root, ".cluster"))
	if err != nil || len(left) != 1 || left[0].Name() != "logs" {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestExecRemovesWhatItMade(t *testing.T) {
	needsControlPlane(t)
	root := newWorkspace(t)
	t.Cleanup(func() { cluster(root, "down") })
	r := cluster(root, "exec", "cat", filepath.Join(root, ".cluster", "pids"))
	r.check(t, exitOK, "removing the local cluster")
	var list []struct{ PID int }
	if err := json.Unmarshal([]byte(r.stdout), &list); err != nil || len(list) != 5 {
		t.Fatalf("recorded meanwhile: %q, %v", r.stdout, err)
	}
	for _, p := range list {
		if alive(p.PID) {
			t.Errorf("pid %d was left running", p.PID)
		}
	}
	cluster(root, "status").check(t, exitFailure, "no cluster")
}

func TestInterruptedUp(t *testing.T) {
	needsControlPlane(t)
	root := newWorkspace(t)
	r, begun := upUntil(t, root, syscall.SIGINT)
	r.check(t, exitInterrupted, "interrupted")
	checkGone(t, begun)
	cluster(root, "status").check(t, exitFailure, "no cluster")
}

func TestUpAfterKilledUp(t *testing.T) {
	needsControlPlane(t)
	root := newWorkspace(t)
	t.Cleanup(func() { cluster(root, "down") })
	r, begun := upUntil(t, root, syscall.SIGKILL)
	r.check(t, 128+9)
	cluster(root, "up", "local").check(t, exitOK, "cleaning up")
	checkGone(t, begun)
	now := pids(root)
	if len(now) != 5 {
		t.Errorf("recorded: %v", now)
	}
	cluster(root, "down", "local").check(t, exitOK)
	checkGone(t, now)
}

// upUntil runs up until the API server is starting, and then signals it. It
// returns how it ended and what it had started.
func upUntil(t *testing.T, root string, s syscall.Signal) (result, map[string]int) {
	t.Helper()
	cmd, end := command(root, "up", "local")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var begun map[string]int
	within(t, 20*time.Minute, "the API server is starting", func() bool { // it may have to be built first
		begun = pids(root)
		return begun["kube-apiserver"] != 0
	})
	if err := cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
	return end(cmd.Wait()), begun
}

func TestInterruptedExec(t *testing.T) {
	root := newWorkspace(t)
	t.Setenv("KUBECONFIG", yours(t))
	cmd, end := command(root, "exec", "sh", "-c", "sleep 1000 & echo $! > child; wait")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	child := 0
	within(t, 10*time.Second, "the program runs", func() bool {
		b, _ := os.ReadFile(filepath.Join(root, "child"))
		child, _ = strconv.Atoi(strings.TrimSpace(string(b)))
		return child != 0
	})
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	end(cmd.Wait()).check(t, exitInterrupted)
	within(t, 10*time.Second, "the program's child is gone", func() bool { return !alive(child) })
}

func TestExecOnYourCluster(t *testing.T) {
	root := newWorkspace(t)
	kubeconfig := yours(t)
	t.Setenv("KUBECONFIG", kubeconfig)
	r := cluster(root, "exec", "sh", "-c", "echo $KUBECONFIG; kill -KILL $$")
	r.check(t, 128+9)
	if r.stdout != kubeconfig+"\n" {
		t.Errorf("the program sees %q", r.stdout)
	}
	cluster(root, "up").check(t, exitOK)
	cluster(root, "status").check(t, exitOK)
	cluster(root, "exec", "no-such-program").check(t, exitFailure, "no-such-program")
	if _, err := os.Stat(filepath.Join(root, ".cluster")); err == nil {
		t.Error("a cluster was begun all the same")
	}
}

// yours is the kubeconfig of a server that says it is ready.
func yours(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(server.Close)
	c := api.NewConfig()
	c.Clusters["x"] = &api.Cluster{Server: server.URL}
	c.AuthInfos["x"] = &api.AuthInfo{}
	c.Contexts["x"] = &api.Context{Cluster: "x", AuthInfo: "x"}
	c.CurrentContext = "x"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*c, path); err != nil {
		t.Fatal(err)
	}
	return path
}
