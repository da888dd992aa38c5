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
	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A cluster is taken apart and put together again, and keeps its data.
func TestFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	dir := filepath.Join(t.TempDir(), "my cluster")
	c, err := Start(t.Context(), Options{Dir: dir, Disable: []string{Scheduler, Node},
		Options: binaries.Options{Progress: t.Output()}, APIServerArgs: []string{"--max-requests-inflight=333"}})
	must.Do(t, err)
	kubectl := func(args ...string) error {
		_, err := binaries.RunKubectl(t.Context(), c.kubectl, c.Kubeconfig(), args...)
		return err
	}
	command, err := c.Command(APIServer)
	must.Do(t, err)
	if !slices.Contains(command.Args, "--max-requests-inflight=333") {
		t.Errorf("got %q, without the flag", command.Args)
	}
	expect.That(t, c.PID(Scheduler) == 0 && c.PID(Node) == 0, "a component that is disabled runs")
	must.Do(t, kubectl("create", "configmap", "kept"))
	checkEtcd(t, c)

	must.Do(t, c.Signal(APIServer, syscall.SIGSTOP))
	expect.That(t, kubectl("get", "configmap", "kept", "--request-timeout=1s") != nil, "a frozen API server answers")
	must.Do(t, c.Signal(APIServer, syscall.SIGCONT))
	must.Do(t, kubectl("get", "configmap", "kept"))

	for _, component := range []string{APIServer, Etcd, ControllerManager} {
		was := c.PID(component)
		must.Do(t, c.Kill(component))
		expect.That(t, c.PID(component) == 0 && (syscall.Kill(was, 0) != nil || zombie(was)),
			"%s is not gone", component)
		expect.That(t, c.Kill(component) != nil && c.Signal(component, syscall.SIGCONT) != nil,
			"%s: no error though it does not run", component)
		must.Do(t, c.Restart(t.Context(), component))
		expect.That(t, c.PID(component) != 0 && c.Restart(t.Context(), component) != nil,
			"%s does not run, or twice", component)
		must.Do(t, kubectl("get", "configmap", "kept"))
	}

	must.Do(t, c.Stop())
	if _, err := os.Stat(dir); len(Processes(dir)) > 0 || !os.IsNotExist(err) {
		t.Errorf("left: %v, %v", Processes(dir), err)
	}
}

// checkEtcd fails if etcd, which has all secrets, answers somebody without the certificate of the cluster,
// as a client or as a member.
func checkEtcd(t *testing.T, c *Cluster) {
	t.Helper()
	client, err := c.EtcdClient()
	must.Do(t, err)
	defer client.CloseIdleConnections()
	pool := client.Transport.(*http.Transport).TLSClientConfig.RootCAs
	anybody := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	defer anybody.CloseIdleConnections()
	for _, test := range []struct {
		who     string
		client  *http.Client
		address string
		answers bool
	}{
		{"the cluster", client, c.EtcdURL() + "/health", true},
		{"anybody", anybody, c.EtcdURL() + "/health", false},
		{"anybody", anybody, fmt.Sprintf("https://127.0.0.1:%d/members", c.ports[1]), false},
		{"anybody", http.DefaultClient, strings.Replace(c.EtcdURL(), "https", "http", 1) + "/health", false},
		{"anybody", http.DefaultClient, fmt.Sprintf("http://127.0.0.1:%d/members", c.ports[1]), false},
	} {
		response, err := test.client.Get(test.address)
		if err == nil {
			response.Body.Close()
		}
		if got := err == nil && response.StatusCode == http.StatusOK; got != test.answers {
			t.Errorf("%s asks %s: it answers: %t, want %t (%v)", test.who, test.address, got, test.answers, err)
		}
	}
}

// zombie is a process that has ended, and whose parent has not asked how.
func zombie(pid int) bool {
	for _, p := range allProcesses() {
		if p.PID == pid {
			return p.Program == ""
		}
	}
	return false
}

// A path may have spaces in it, and so may the list of ps on macOS.
func TestAListOfProcesses(t *testing.T) {
	got := parseProcesses(`    1 /sbin/launchd
  501 /Users/me/my clone/.cluster/local/bin/etcd
70123 -zsh
  502 (etcd)
  503
`)
	want := []Process{{1, "/sbin/launchd"}, {501, "/Users/me/my clone/.cluster/local/bin/etcd"}, {70123, "-zsh"},
		{502, "(etcd)"}, {503, ""}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// What cannot start says why, and leaves nothing.
func TestStartThatFails(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	dir := filepath.Join(t.TempDir(), "my cluster")
	_, err := Start(t.Context(), Options{Dir: dir, Options: binaries.Options{Progress: t.Output()},
		APIServerArgs: []string{"--no-such-flag=x"}})
	expect.That(t, err != nil && strings.Contains(err.Error(), "unknown flag: --no-such-flag"), "got %v", err)
	_, err = os.Stat(dir)
	expect.That(t, len(Processes(dir)) <= 0 && os.IsNotExist(err), "left: %v, %v", Processes(dir), err)
}

// On a slow machine a component may give up, because another one is not ready yet.
func TestAComponentThatEndsDuringTheStartIsStartedAgain(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	dir := filepath.Join(t.TempDir(), "my cluster")
	killed := make(chan int, 1)
	must.Run(t, func(ctx context.Context) {
		file := filepath.Join(dir, ".kwok", "clusters", "informer", "pids", ControllerManager+".pid")
		for sleep(ctx) {
			text, _ := os.ReadFile(file)
			if pid, err := strconv.Atoi(string(text)); err == nil {
				killed <- pid
				_ = syscall.Kill(pid, syscall.SIGKILL)
				return
			}
		}
	})
	c, err := Start(t.Context(), Options{Dir: dir, Disable: []string{Scheduler, Node},
		Options: binaries.Options{Progress: t.Output()}})
	must.Do(t, err)
	if pid, first := c.PID(ControllerManager), <-killed; pid == 0 || pid == first {
		t.Errorf("the controller manager runs as process %d; the first one, which was killed, was %d", pid, first)
	}
	must.Do(t, c.Stop())
}
