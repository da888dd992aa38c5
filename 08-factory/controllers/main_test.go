package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"example.com/informer/scripts/harness/step/steptest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSteps(t *testing.T) { steptest.Run(t, chapter) }

// ownTemp gives the test a folder for temporary files, and checks in the end
// that none is left in it.
func ownTemp(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Cleanup(func() {
		if left, err := os.ReadDir(dir); len(left) != 0 || err != nil {
			t.Errorf("left behind: %v, %v", left, err)
		}
	})
}

// While everything is at work: the controllers, their informers, the components.
func TestInterrupted(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	ownTemp(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var shown strings.Builder
	err := chapter.Check(ctx, chapter.Steps[0], time.Minute, func(line string) {
		shown.WriteString(line + "\n")
		if strings.HasPrefix(line, "$ kubectl delete deployment") {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "\n") {
		t.Errorf("it ended with: %v", err)
	}
	want, err := os.ReadFile(filepath.Join("testdata", "controllers.txt"))
	if err != nil || !strings.HasPrefix(string(want), shown.String()) {
		t.Errorf("shown until then:\n%s\nwhich is not the beginning of the transcript, %v", &shown, err)
	}
}

func TestNoControlPlane(t *testing.T) {
	ownTemp(t)
	t.Setenv("XDG_CACHE_HOME", os.DevNull)
	_, err := startPlane(t.Context())
	if err == nil || !strings.Contains(err.Error(), "set XDG_CACHE_HOME to another folder") {
		t.Errorf("it ended with: %v", err)
	}
}
