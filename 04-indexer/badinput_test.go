// What the chapter says when it cannot do its work: one or two lines, and
// what to do next.

package main

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// runChapter is set in the environment of a process that is to run the chapter.
const runChapter = "RUN_CHAPTER"

func TestWithoutACluster(t *testing.T) {
	for _, test := range []struct {
		args  []string
		code  int
		texts []string
	}{
		{[]string{"store"}, 0, nil},
		{[]string{"known"}, 1, []string{"no cluster chosen", "scripts/local-up.sh", "-kubeconfig"}},
		{[]string{"-follow"}, 1, []string{"no cluster chosen"}},
		{[]string{"indexes"}, 2, []string{`no step "indexes"`, "known, store, namespace,"}},
	} {
		t.Run(strings.Join(test.args, " "), func(t *testing.T) {
			t.Parallel()
			self, err := os.Executable()
			must(t, err)
			var stderr bytes.Buffer
			cmd := exec.CommandContext(t.Context(), self, test.args...)
			cmd.Dir = t.TempDir() // outside the workspace, and the environment names no cluster
			cmd.Env = []string{runChapter + "=1", "HOME=" + cmd.Dir}
			cmd.Stderr = &stderr
			_ = cmd.Run() // the exit code is looked at below
			if code := cmd.ProcessState.ExitCode(); code != test.code {
				t.Errorf("exit code %d, want %d", code, test.code)
			}
			if lines := strings.Count(stderr.String(), "\n"); lines > 2 || (lines == 0) != (test.code == 0) {
				t.Errorf("%d lines on stderr", lines)
			}
			for _, text := range test.texts {
				if !strings.Contains(stderr.String(), text) {
					t.Errorf("stderr lacks %q", text)
				}
			}
			if t.Failed() {
				t.Log(stderr.String())
			}
		})
	}
}

func TestKeepTakesTombstones(t *testing.T) {
	store := cache.NewStore(cache.DeletionHandlingMetaNamespaceKeyFunc)
	pod := newPod("ns1", "pod1", "l1")
	must(t, store.Add(pod))
	old, err := keep(store, cache.Delta{Type: cache.Deleted, Object: cache.DeletedFinalStateUnknown{Key: "ns1/pod1"}})
	must(t, err)
	if old != any(pod) || len(store.List()) != 0 {
		t.Errorf("got %v, and %d objects left; want the pod that was stored, and none", old, len(store.List()))
	}
	if _, err := keep(store, cache.Delta{Type: cache.Added, Object: "no object"}); err == nil {
		t.Error("it kept what is no object")
	}
}

func TestAddKindRefusesWhatTheSchemeDoesNotKnow(t *testing.T) {
	for _, obj := range []any{"no object", unregistered{}} {
		if _, err := addKind(obj); err == nil {
			t.Errorf("it gave %T a kind", obj)
		}
	}
}

// unregistered is an object of no scheme.
type unregistered struct{ *corev1.Pod }
