// Tests of starts that fail, with shell scripts in the place of etcd and
// kube-apiserver.

package local

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if os.Getenv(parentEnv) != "" {
		beParent()
	}
	goleak.VerifyTestMain(m)
}

// assets has two shell scripts run in the place of etcd and kube-apiserver. It
// returns the folder that it made for them.
func assets(t *testing.T, etcd, apiServer string) string {
	t.Helper()
	dir := t.TempDir()
	for c, script := range map[Component]string{Etcd: etcd, APIServer: apiServer} {
		if err := os.WriteFile(filepath.Join(dir, string(c)), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("KUBEBUILDER_ASSETS", dir)
	return dir
}

// recordOf waits until a component is recorded.
func recordOf(t *testing.T, dir string, c Component) record {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for {
		list, _ := readRecords(dir)
		for _, r := range list {
			if r.Component == c {
				return r
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s never started", c)
		}
		time.Sleep(time.Millisecond)
	}
}

func TestComponentThatDiesAtStart(t *testing.T) {
	dir := t.TempDir()
	assets(t, "echo $$ > etcd.pid; exec sleep 1000",
		"until [ -s etcd.pid ]; do :; done; echo first line; echo the etcd of my dreams is missing >&2; exit 1")
	_, err := Start(t.Context(), Options{Dir: dir, APIOnly: true})
	log := filepath.Join(dir, "logs", "kube-apiserver.log")
	for _, want := range []string{"kube-apiserver ended", "exit status 1", "the etcd of my dreams is missing", log} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
	if _, err := os.Stat(log); err != nil {
		t.Error(err)
	}
	checkGone(t, dir)
}

// checkGone looks for the etcd whose pid is in the data folder.
func checkGone(t *testing.T, dir string) {
	t.Helper()
	pid := awaitPid(t.Context(), filepath.Join(dataDir(dir), "etcd.pid"))
	if pid == 0 || alive(pid) {
		t.Errorf("etcd, pid %d, was left running", pid)
	}
	if _, err := os.Stat(pidsFile(dir)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the pids file is still there: %v", err)
	}
}

func TestComponentThatIsNeverReady(t *testing.T) {
	dir := t.TempDir()
	defer func(before time.Duration) { readyWithin = before }(readyWithin)
	readyWithin = time.Second
	assets(t, "echo $$ > etcd.pid; exec sleep 1000", "until [ -s etcd.pid ]; do :; done; exec sleep 1000")
	_, err := Start(t.Context(), Options{Dir: dir, APIOnly: true})
	for _, want := range []string{"not ready after 1s", "a ready API server", filepath.Join(dir, "logs")} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
	checkGone(t, dir)
}

func TestInterruptedStart(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	go func() {
		awaitPid(ctx, filepath.Join(dataDir(dir), "etcd.pid"))
		cancel(enough)
	}()
	assets(t, "echo $$ > etcd.pid; exec sleep 1000", "exec sleep 1000")
	_, err := Start(ctx, Options{Dir: dir, APIOnly: true})
	cancel(nil)
	if !errors.Is(err, enough) {
		t.Errorf("got %v", err)
	}
	checkGone(t, dir)
}

func TestPortTakenMeanwhileIsTriedAgain(t *testing.T) {
	var progress bytes.Buffer
	assets(t, "exec sleep 1000",
		"echo failed to create listener: listen tcp 127.0.0.1:1: bind: address already in use; exit 1")
	_, err := Start(t.Context(), Options{Dir: t.TempDir(), APIOnly: true, Progress: &progress})
	if !errors.Is(err, errPortBusy) {
		t.Errorf("got %v", err)
	}
	if n := strings.Count(progress.String(), "another process took the port"); n != attempts-1 {
		t.Errorf("tried again %d times: %s", n, progress.String())
	}
}

func TestWrongAssets(t *testing.T) {
	notExecutable := assets(t, "", "")
	if err := os.Chmod(filepath.Join(notExecutable, "etcd"), 0o644); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{
		filepath.Join(t.TempDir(), "none"): "no such file",
		notExecutable:                      "not an executable file",
	} {
		t.Setenv("KUBEBUILDER_ASSETS", dir)
		_, err := Start(t.Context(), Options{Dir: t.TempDir(), APIOnly: true})
		for _, w := range []string{"KUBEBUILDER_ASSETS=" + dir, filepath.Join(dir, "etcd"), want} {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("%q is not in: %v", w, err)
			}
		}
	}
}

func TestNoDir(t *testing.T) {
	if _, err := Start(t.Context(), Options{}); err == nil {
		t.Error("started in no folder at all")
	}
}
