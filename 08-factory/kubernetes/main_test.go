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

	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/07-shared-informer/parttwo"
	"example.com/informer/scripts/harness/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSteps(t *testing.T) { must.Play(t, chapter) }

// The controllers do the same on the parts of Part II.
func TestStepsWithPartTwo(t *testing.T) {
	partOne := informer.Default
	informer.Default = parttwo.Parts
	t.Cleanup(func() { informer.Default = partOne })
	must.Play(t, chapter)
}

// ownTemp gives the test its own folder for temporary files. At the end of the test it checks that
// the folder is empty.
func ownTemp(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Cleanup(func() {
		left, err := os.ReadDir(dir)
		if len(left) != 0 || err != nil {
			t.Errorf("the folder for temporary files has %v, %v; want nothing, nil", left, err)
		}
	})
}

// The step is interrupted while the components, the controllers and their informers run.
func TestInterrupted(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	ownTemp(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var shown strings.Builder
	err := chapter.CheckStep(ctx, chapter.Steps[0].Name, func(line string) {
		shown.WriteString(line + "\n")
		if strings.HasPrefix(line, "$ kubectl delete deployment") {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the step ended with %v, want %v", err, context.Canceled)
	}
	if err != nil && strings.Contains(err.Error(), "\n") { // errors.Join would put others into lines of their own
		t.Errorf("the step ended with several errors, want one:\n%v", err)
	}
	transcript, err := os.ReadFile(filepath.Join("testdata", "controllers.txt"))
	must.NoError(t, err)
	if !strings.HasPrefix(string(transcript), shown.String()) {
		t.Errorf("the step printed\n%s\nwant the beginning of the transcript:\n%s", &shown, transcript)
	}
}

func TestNoControlPlane(t *testing.T) {
	ownTemp(t)
	t.Setenv("XDG_CACHE_HOME", os.DevNull)
	_, err := startPlane(t.Context(), time.Minute)
	want := "set XDG_CACHE_HOME to another folder"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("startPlane() = %v, want an error with %q", err, want)
	}
}
