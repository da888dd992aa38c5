package local

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"example.com/informer/scripts/cluster/binaries"
	"example.com/informer/scripts/harness/must"
)

func TestMain(m *testing.M) {
	beComponent()
	goleak.VerifyTestMain(m)
}

// newTestCluster starts a cluster. With -short the test is skipped.
func newTestCluster(t *testing.T, opts Options) (*Cluster, error) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	opts.Progress = t.Output()
	return Start(t.Context(), opts)
}

// wantNothingLeft wants no files and no processes of the cluster in a folder.
func wantNothingLeft(t *testing.T, dir string) {
	t.Helper()
	if left := Processes(dir); len(left) > 0 {
		t.Errorf("processes are left: %v, want none", left)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("stat %s: error %v, want %v", dir, err, os.ErrNotExist)
	}
}

// A cluster keeps its data while its components are frozen, killed and restarted.
func TestFaults(t *testing.T) {
	const flag = "--max-requests-inflight=333"
	dir := filepath.Join(t.TempDir(), "my cluster")
	c, err := newTestCluster(t, Options{Dir: dir, Disable: []string{Scheduler, Node}, APIServerArgs: []string{flag}})
	must.NoError(t, err)
	kubectl := func(args ...string) error {
		_, err := binaries.RunKubectl(t.Context(), c.kubectl, c.Kubeconfig(), args...)
		return err
	}
	command, err := c.Command(APIServer)
	must.NoError(t, err)
	if !slices.Contains(command.Args, flag) {
		t.Errorf("Command(%s).Args = %q, want %q among them", APIServer, command.Args, flag)
	}
	for _, component := range []string{Scheduler, Node} {
		if pid := c.PID(component); pid != 0 {
			t.Errorf("PID(%s) = %d, want 0: it is disabled", component, pid)
		}
	}
	must.NoError(t, kubectl("create", "configmap", "kept"))
	checkEtcd(t, c)

	must.NoError(t, c.Signal(APIServer, syscall.SIGSTOP))
	if kubectl("get", "configmap", "kept", "--request-timeout=1s") == nil {
		t.Error("kubectl get succeeded while the API server was frozen")
	}
	must.NoError(t, c.Signal(APIServer, syscall.SIGCONT))
	must.NoError(t, kubectl("get", "configmap", "kept"))

	for _, component := range []string{APIServer, Etcd, ControllerManager} {
		checkKillAndRestart(t, c, component)
		must.NoError(t, kubectl("get", "configmap", "kept"))
	}

	must.NoError(t, c.Stop())
	wantNothingLeft(t, dir)
}

// checkKillAndRestart kills a component, and starts it again.
func checkKillAndRestart(t *testing.T, c *Cluster, component string) {
	t.Helper()
	oldPID := c.PID(component)
	must.NoError(t, c.Kill(component))
	if pid := c.PID(component); pid != 0 {
		t.Errorf("PID(%s) = %d after Kill, want 0", component, pid)
	}
	if err := syscall.Kill(oldPID, 0); err == nil && !isZombie(oldPID) {
		t.Errorf("%s still runs as process %d after Kill", component, oldPID)
	}
	if err := c.Kill(component); err == nil {
		t.Errorf("a second Kill(%s) = nil, want an error: it does not run", component)
	}
	if err := c.Signal(component, syscall.SIGCONT); err == nil {
		t.Errorf("Signal(%s) after Kill = nil, want an error: it does not run", component)
	}
	must.NoError(t, c.Restart(t.Context(), component))
	if c.PID(component) == 0 {
		t.Errorf("PID(%s) = 0 after Restart, want that of a process", component)
	}
	if err := c.Restart(t.Context(), component); err == nil {
		t.Errorf("a second Restart(%s) = nil, want an error: it runs", component)
	}
}

// checkEtcd fails if etcd, which holds all secrets, answers a client or another member without a
// certificate of the cluster.
func checkEtcd(t *testing.T, c *Cluster) {
	t.Helper()
	withCertificate, err := c.EtcdClient()
	must.NoError(t, err)
	defer withCertificate.CloseIdleConnections()
	pool := withCertificate.Transport.(*http.Transport).TLSClientConfig.RootCAs
	without := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	defer without.CloseIdleConnections()
	health := fmt.Sprintf("127.0.0.1:%d/health", c.ports.Etcd)
	members := fmt.Sprintf("127.0.0.1:%d/members", c.ports.EtcdPeer)
	for _, test := range []struct {
		name    string
		client  *http.Client
		address string
		answers bool
	}{
		{name: "a client with the certificate", client: withCertificate, address: "https://" + health, answers: true},
		{name: "a client without a certificate", client: without, address: "https://" + health},
		{name: "a member without a certificate", client: without, address: "https://" + members},
		{name: "a client without TLS", client: http.DefaultClient, address: "http://" + health},
		{name: "a member without TLS", client: http.DefaultClient, address: "http://" + members},
	} {
		response, err := test.client.Get(test.address)
		if err == nil {
			response.Body.Close()
		}
		if answers := err == nil && response.StatusCode == http.StatusOK; answers != test.answers {
			t.Errorf("%s asks %s: etcd answers: %t (error: %v), want %t",
				test.name, test.address, answers, err, test.answers)
		}
	}
}

// isZombie reports whether a process has ended, and its parent has not waited for it.
func isZombie(pid int) bool {
	for _, p := range allProcesses() {
		if p.PID == pid {
			return p.Program == ""
		}
	}
	return false
}

// The path of a program may have spaces in it, in the list of ps on macOS too.
func TestParseProcesses(t *testing.T) {
	got := parseProcesses(`    1 /sbin/launchd
  501 /Users/me/my clone/.cluster/local/bin/etcd
70123 -zsh
  502 (etcd)
  503
`)
	want := []Process{
		{PID: 1, Program: "/sbin/launchd"},
		{PID: 501, Program: "/Users/me/my clone/.cluster/local/bin/etcd"},
		{PID: 70123, Program: "-zsh"},
		{PID: 502, Program: "(etcd)"},
		{PID: 503, Program: ""},
	}
	if !slices.Equal(got, want) {
		t.Errorf("parseProcesses() = %v\nwant %v", got, want)
	}
}

// A cluster that cannot start says why, and leaves nothing.
func TestStartThatFails(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "my cluster")
	_, err := newTestCluster(t, Options{Dir: dir, APIServerArgs: []string{"--no-such-flag=x"}})
	if want := "unknown flag: --no-such-flag"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("Start() = %v, want an error with %q", err, want)
	}
	wantNothingLeft(t, dir)
}

// On a slow machine a component may give up during the start, because another one is not ready yet.
func TestAComponentThatEndsDuringTheStartIsStartedAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "my cluster")
	killed := make(chan int, 1)
	must.Run(t, func(ctx context.Context) {
		file := filepath.Join(dir, ".kwok", "clusters", "informer", "pids", ControllerManager+".pid")
		for sleep(ctx) {
			text, _ := os.ReadFile(file) // there is none at first
			if pid, err := strconv.Atoi(string(text)); err == nil {
				killed <- pid
				_ = syscall.Kill(pid, syscall.SIGKILL)
				return
			}
		}
	})
	c, err := newTestCluster(t, Options{Dir: dir, Disable: []string{Scheduler, Node}})
	must.NoError(t, err)
	firstPID := <-killed
	if pid := c.PID(ControllerManager); pid == 0 || pid == firstPID {
		t.Errorf("PID(%s) = %d, want that of a second process; the first one, which was killed, was %d",
			ControllerManager, pid, firstPID)
	}
	must.NoError(t, c.Stop())
}
