// What the chapter says when it cannot do its work: one or two lines, and
// what to do next.

package main

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"example.com/informer/02-listwatch/kubetest"
	"example.com/informer/08-factory/factory"
)

// runChapter is set in the environment of a process that is to run the chapter.
const runChapter = "RUN_CHAPTER"

// wantError runs the chapter as a program, and wants an exit code and at most
// two lines on stderr, with each text in them.
func wantError(t *testing.T, change func(*exec.Cmd), args []string, code int, texts ...string) {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	var stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Env = append(os.Environ(), runChapter+"=1")
	cmd.Stderr = &stderr
	change(cmd)
	_ = cmd.Run() // the exit code is looked at below
	if got := cmd.ProcessState.ExitCode(); got != code {
		t.Errorf("exit code %d, want %d", got, code)
	}
	if lines := strings.Count(stderr.String(), "\n"); lines < 1 || lines > 2 {
		t.Errorf("%d lines on stderr, want one or two", lines)
	}
	for _, text := range texts {
		if !strings.Contains(stderr.String(), text) {
			t.Errorf("stderr lacks %q", text)
		}
	}
	if t.Failed() {
		t.Logf("%q:\n%s", args, &stderr)
	}
}

func TestWithoutACluster(t *testing.T) {
	outside := func(cmd *exec.Cmd) { // the workspace, and the environment names no cluster
		cmd.Dir = t.TempDir()
		cmd.Env = []string{runChapter + "=1", "HOME=" + cmd.Dir}
	}
	for _, args := range [][]string{{"factory"}, {"-addr", "nonsense", "http"}, {"-follow"}} {
		wantError(t, outside, args, 1, "no cluster chosen", "scripts/local-up.sh", "-kubeconfig")
	}
	wantError(t, outside, []string{"factories"}, 2, `no step "factories"`, "factory, same, http,")
}

func TestAnAddressThatCannotBeListenedOn(t *testing.T) {
	kubetest.Need(t)
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { busy.Close() }) // when the parallel tests are over
	for address, says := range map[string]string{busy.Addr().String(): "the port is in use", "nonsense": "no host and port"} {
		for _, what := range []string{"http", "-follow"} {
			t.Run(what+" "+says, func(t *testing.T) {
				t.Parallel()
				wantError(t, func(*exec.Cmd) {}, []string{"-addr", address, what}, 1, "listening on", address, says, "-addr")
			})
		}
	}
}

// Somebody who may list ConfigMaps of no namespace waits in vain, and is told
// for what.
func TestATypeThatMayNotBeListed(t *testing.T) {
	s := kubetest.Open(t)
	nobody, err := s.With(func(config *rest.Config) { config.Impersonate.UserName = "nobody" })
	must(t, err)
	defer nobody.Cluster.Close()
	f := factory.New(nobody.Clientset, factory.Options{Namespace: s.Namespace})
	defer f.Shutdown()
	f.ConfigMaps()
	f.Deployments()
	f.Start(t.Context())
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	err = f.WaitForCacheSync(ctx)
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "configmaps, deployments.v1.apps (are they served, and may you list") {
		t.Errorf("got %v", err)
	}
}

// A factory that looks at a namespace that is not there has empty stores.
func TestANamespaceThatIsNotThere(t *testing.T) {
	s := kubetest.Open(t)
	f := factory.New(s.Clientset, factory.Options{Namespace: "no-such-namespace"})
	defer f.Shutdown()
	configMaps := f.ConfigMaps().Informer()
	must(t, start(t.Context(), f))
	if keys := configMaps.GetStore().ListKeys(); len(keys) != 0 {
		t.Errorf("it holds %q", keys)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
