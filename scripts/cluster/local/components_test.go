// Tests with processes that stand for the components of a cluster.

package local

import (
	"fmt"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"example.com/informer/scripts/cluster/binaries"
	"example.com/informer/scripts/harness/must"
)

// beComponent never returns if this program was started under the name of a component: then it runs
// until it is killed.
func beComponent() {
	if slices.Contains((&Cluster{}).components(), filepath.Base(os.Args[0])) {
		killed := make(chan os.Signal, 1)
		signal.Notify(killed, syscall.SIGTERM)
		<-killed
	}
}

// newFakeCluster makes a folder as kwokctl does, for components that do nothing, and a kubectl to
// which the API server is always ready. No component runs yet.
func newFakeCluster(t *testing.T) *Cluster {
	t.Helper()
	bin := t.TempDir()
	kubectl := "#!/bin/sh\necho Client Version: " + binaries.KubernetesVersion() + "\n"
	must.NoError(t, os.WriteFile(filepath.Join(bin, "kubectl"), []byte(kubectl), 0o755))
	t.Setenv("PATH", bin+":"+os.Getenv("PATH")) // Processes needs ps on macOS
	c := &Cluster{opts: Options{Dir: filepath.Join(t.TempDir(), "my cluster"), Name: "fake"}}
	t.Cleanup(func() { must.NoError(t, Remove(c.opts.Dir)) })
	for _, folder := range []string{"bin", "logs", "pids"} {
		must.NoError(t, os.MkdirAll(filepath.Join(c.folder(), folder), 0o755))
	}
	program, err := os.Executable()
	must.NoError(t, err)
	config := "components:\n"
	for _, component := range c.components() {
		link := filepath.Join(c.folder(), "bin", component)
		must.NoError(t, os.Symlink(program, link))
		must.NoError(t, os.WriteFile(c.log(component), nil, 0o600))
		must.NoError(t, os.WriteFile(filepath.Join(c.folder(), "pids", component+".pid"), nil, 0o600))
		config += fmt.Sprintf("- {name: %s, binary: %q}\n", component, link)
	}
	must.NoError(t, os.WriteFile(filepath.Join(c.folder(), "kwok.yaml"), []byte(config), 0o600))
	return c
}

// runFakes starts components.
func (c *Cluster) runFakes(t *testing.T, components ...string) {
	t.Helper()
	for _, component := range components {
		must.NoError(t, c.run(component))
	}
	must.Until(t, "they run", func() bool { return len(Processes(c.folder())) == len(components) })
}

// Resume starts the components that have ended, and no others.
func TestResume(t *testing.T) {
	c := newFakeCluster(t)
	c.runFakes(t, APIServer, ControllerManager, Node)
	before := Processes(c.folder())
	var progress strings.Builder
	c.opts.Progress = &progress
	must.NoError(t, Resume(t.Context(), c.opts))
	if want := "are started again: etcd, kube-scheduler\n"; !strings.Contains(progress.String(), want) {
		t.Errorf("progress is %q, want %q in it", &progress, want)
	}
	after := Processes(c.folder())
	for _, component := range []string{Etcd, Scheduler} {
		if after[component].PID == 0 {
			t.Errorf("after Resume, %s does not run", component)
		}
		delete(after, component)
	}
	if !maps.Equal(before, after) {
		t.Errorf("the components that ran were %v, and are %v", before, after)
	}
}

// The error says which component does not start again, and why.
func TestResumeThatFails(t *testing.T) {
	c := newFakeCluster(t)
	c.opts.Progress = t.Output()
	c.runFakes(t, Etcd, APIServer, ControllerManager, Node)
	program := filepath.Join(c.folder(), "bin", Scheduler)
	must.NoError(t, os.Remove(program))
	must.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\necho no space left >&2; exit 1\n"), 0o755))
	err := Resume(t.Context(), c.opts)
	if want := "kube-scheduler has ended 3 times: no space left"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("Resume() = %v, want an error with %q", err, want)
	}
}

// After a reboot, other programs may listen on the ports of the cluster.
func TestResumeLeavesAClusterAloneThatHasEnded(t *testing.T) {
	c := newFakeCluster(t)
	c.opts.Progress = t.Output()
	must.NoError(t, Resume(t.Context(), c.opts))
	if started := Processes(c.folder()); len(started) > 0 {
		t.Errorf("Resume has started %v, want nothing", started)
	}
}
