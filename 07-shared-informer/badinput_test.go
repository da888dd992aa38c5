// What the chapter says when it cannot do its work: one or two lines, and
// what to do next.

package main

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"

	"example.com/informer/02-listwatch/kubetest"
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
	nowhere := func(cmd *exec.Cmd) { // outside the workspace, and the environment names no cluster
		cmd.Dir = t.TempDir()
		cmd.Env = []string{runChapter + "=1", "HOME=" + cmd.Dir}
	}
	for _, args := range [][]string{{"informer"}, {"-addr", "nonsense", "http"}, {"-follow"}} {
		wantError(t, nowhere, args, 1, "no cluster chosen", "scripts/local-up.sh", "-kubeconfig")
	}
	wantError(t, nowhere, []string{"informers"}, 2, `no step "informers"`, "informer, index, http,")
}

func TestAnAddressThatCannotBeListenedOn(t *testing.T) {
	kubetest.Need(t)
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { busy.Close() }) // when the parallel tests are over
	for address, says := range map[string]string{
		busy.Addr().String(): "the port is in use",
		"nonsense":           "no host and port",
		"127.0.0.1:http":     "no host and port",
		"192.0.2.1:4000":     "cannot assign requested address",
	} {
		for _, what := range []string{"http", "-follow"} {
			t.Run(what+" "+says, func(t *testing.T) {
				t.Parallel()
				wantError(t, func(*exec.Cmd) {}, []string{"-addr", address, what}, 1, "listening on", address, says, "-addr")
			})
		}
	}
}
