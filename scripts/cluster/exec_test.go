// Tests of several programs on one cluster: nobody takes it away from another,
// and the last one that needs it removes it. The control plane is a fake.

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// fakeCache is where the fake control plane is built, once for all tests.
var fakeCache = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "cluster-test-") })

func removeFakeCache(code int) {
	if dir, err := fakeCache(); err == nil {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

// fakeWorkspace is a new workspace with a control plane that starts in no time.
func fakeWorkspace(t *testing.T) (root string) {
	t.Helper()
	root = newWorkspace(t)
	source, err := filepath.Abs(filepath.Join("testdata", "controlplane"))
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(root, "scripts", "controlplane")
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(source, link); err != nil {
		t.Fatal(err)
	}
	goCache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	cache, err := fakeCache()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOCACHE", strings.TrimSpace(string(goCache)))
	t.Setenv("XDG_CACHE_HOME", cache)
	t.Cleanup(func() { cluster(root, "down") }) // if the test fails halfway
	return root
}

// A backgroundCommand runs while the test goes on.
type backgroundCommand struct {
	*exec.Cmd
	t      *testing.T
	end    func(error) result
	stderr string // a file
}

func start(t *testing.T, root string, args ...string) *backgroundCommand {
	t.Helper()
	cmd, end := command(root, args...)
	file, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	cmd.Stdout, cmd.Stderr = nil, file // no pipe, which a program that outlives its exec would hold open
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return &backgroundCommand{cmd, t, end, file.Name()}
}

func (b *backgroundCommand) said() string {
	said, _ := os.ReadFile(b.stderr)
	return string(said)
}

func (b *backgroundCommand) signal(s syscall.Signal) {
	b.t.Helper()
	if err := b.Process.Signal(s); err != nil {
		b.t.Fatal(err)
	}
}

func (b *backgroundCommand) wait() result {
	r := b.end(b.Wait())
	r.stderr = b.said()
	return r
}

// user is an exec, and its program, which runs until the test has it finish.
type user struct {
	*backgroundCommand
	stop    string // a file: the program ends when it is there
	program int    // its pid
}

// startUser returns when the program runs.
func startUser(t *testing.T, root string) *user {
	t.Helper()
	dir := t.TempDir()
	u := &user{stop: filepath.Join(dir, "stop")}
	pid := filepath.Join(dir, "pid")
	u.backgroundCommand = start(t, root, "exec", "sh", "-c",
		`echo $$ > "$0"; until [ -e "$1" ]; do sleep 0.02; done`, pid, u.stop)
	within(t, 5*time.Minute, "exec's program runs", func() bool { // the fake may have to be built first
		b, _ := os.ReadFile(pid)
		u.program, _ = strconv.Atoi(strings.TrimSpace(string(b)))
		return u.program != 0
	})
	t.Cleanup(u.endProgram)
	return u
}

// endProgram works without its exec too, when that has been killed.
func (u *user) endProgram() {
	if err := os.WriteFile(u.stop, nil, 0o600); err != nil {
		u.t.Fatal(err)
	}
	within(u.t, 10*time.Second, "the program has ended", func() bool { return !alive(u.program) })
}

func (u *user) finish() result {
	u.t.Helper()
	u.endProgram()
	return u.wait()
}

func checkAlive(t *testing.T, processes map[string]int) {
	t.Helper()
	if len(processes) == 0 {
		t.Error("no processes are recorded")
	}
	for name, pid := range processes {
		if !alive(pid) {
			t.Errorf("%s, pid %d, was ended", name, pid)
		}
	}
	if t.Failed() {
		t.FailNow()
	}
}

func TestLastExecRemovesTheCluster(t *testing.T) {
	for name, leave := range map[string]func(maker *user){
		"finished": func(maker *user) { maker.finish().check(maker.t, exitOK) },
		"interrupted": func(maker *user) {
			maker.signal(syscall.SIGINT)
			maker.wait().check(maker.t, exitInterrupted)
		},
		"killed": func(maker *user) {
			maker.signal(syscall.SIGKILL)
			maker.finish().check(maker.t, 128+9)
		},
	} {
		t.Run("maker "+name, func(t *testing.T) {
			root := fakeWorkspace(t)
			maker, other := startUser(t, root), startUser(t, root)
			processes := pids(root)
			leave(maker)
			checkAlive(t, processes)
			cluster(root, "status").check(t, exitOK)
			other.finish().check(t, exitOK, "removing the local cluster")
			checkGone(t, processes)
			cluster(root, "status").check(t, exitFailure, "no cluster")
		})
	}
}

// The program of an exec that was killed goes on, and needs its cluster.
func TestProgramOfKilledExecKeepsItsCluster(t *testing.T) {
	root := fakeWorkspace(t)
	orphan, other := startUser(t, root), startUser(t, root)
	processes := pids(root)
	orphan.signal(syscall.SIGKILL)
	orphan.wait().check(t, 128+9)
	other.finish().check(t, exitOK)
	checkAlive(t, processes)

	orphan.endProgram()
	cluster(root, "exec", "true").check(t, exitOK, "removing the local cluster") // what the killed one could not
	checkGone(t, processes)
}

func TestUpKeepsWhatExecMade(t *testing.T) {
	root := fakeWorkspace(t)
	maker := startUser(t, root)
	processes := pids(root)
	cluster(root, "up").check(t, exitOK)
	maker.finish().check(t, exitOK)
	checkAlive(t, processes)
	cluster(root, "exec", "true").check(t, exitOK)
	checkAlive(t, processes)
	cluster(root, "down").check(t, exitOK)
	checkGone(t, processes)
}

func TestDownUnderARunningExec(t *testing.T) {
	root := fakeWorkspace(t)
	maker := startUser(t, root)
	processes := pids(root)
	down := cluster(root, "down", "local")
	down.check(t, exitOK)
	checkGone(t, processes)

	cluster(root, "up", "local").check(t, exitOK)
	processes = pids(root)
	maker.finish().check(t, exitOK)
	checkAlive(t, processes) // it is not the one that exec made
	down.check(t, exitOK, "still uses")
}

// KUBECONFIG, as up says to set it, names the workspace's own cluster.
func TestExecWithKubeconfigOfTheWorkspace(t *testing.T) {
	root := fakeWorkspace(t)
	maker := startUser(t, root)
	processes := pids(root)
	t.Setenv("KUBECONFIG", filepath.Join(root, ".cluster", "kubeconfig"))
	other := startUser(t, root)
	maker.finish().check(t, exitOK)
	checkAlive(t, processes)
	other.finish().check(t, exitOK, "removing the local cluster")
	checkGone(t, processes)
}

func TestSlowClusterIsWaitedFor(t *testing.T) {
	root := fakeWorkspace(t)
	cluster(root, "up").check(t, exitOK)
	processes := pids(root)
	freeze := func(s syscall.Signal) {
		if err := syscall.Kill(processes["kube-apiserver"], s); err != nil {
			t.Fatal(err)
		}
	}
	freeze(syscall.SIGSTOP)
	interrupted, patient := start(t, root, "up"), start(t, root, "up")
	within(t, time.Minute, "one waits for the cluster, the other for its turn", func() bool {
		said := interrupted.said() + patient.said()
		return strings.Contains(said, "may only be slow") && strings.Contains(said, "another up or down") ||
			!alive(processes["kube-apiserver"])
	})
	checkAlive(t, processes)
	if !strings.Contains(interrupted.said(), "may only be slow") {
		interrupted, patient = patient, interrupted
	}
	interrupted.signal(syscall.SIGINT)
	interrupted.wait().check(t, exitInterrupted)
	checkAlive(t, processes)
	freeze(syscall.SIGCONT)
	patient.wait().check(t, exitOK)
	checkAlive(t, processes)
}

func TestBrokenClusterInUseIsLeftAlone(t *testing.T) {
	root := fakeWorkspace(t)
	maker := startUser(t, root)
	processes := pids(root)
	scheduler := processes["kube-scheduler"]
	if err := syscall.Kill(scheduler, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	within(t, 10*time.Second, "the scheduler is dead", func() bool { return !alive(scheduler) })
	delete(processes, "kube-scheduler")
	for _, args := range [][]string{{"up"}, {"exec", "true"}} {
		cluster(root, args...).check(t, exitFailure, "kube-scheduler", "uses it", "scripts/local-down.sh")
		checkAlive(t, processes)
	}
	maker.finish().check(t, exitOK, "removing the local cluster")
	checkGone(t, processes)
}
