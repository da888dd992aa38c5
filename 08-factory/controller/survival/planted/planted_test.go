// Package planted shows what the survival test finds. Each file in testdata plants a bug in the
// controller of package notices, and names the judgement that must find it.
package planted

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"example.com/informer/08-factory/controller/survival"
	"example.com/informer/scripts/harness/must"
)

// TestPlantedBugs sets them.
var (
	bugName  = flag.String("bug", "", "the planted bug that TestBug runs")
	patience = flag.Duration("patience", 0, "how long a judgement of TestBug waits")
)

// starts has the start function of the controller with each bug. It is empty, except in the program
// that TestPlantedBugs builds.
var starts = map[string]func(ctx context.Context, config *rest.Config, namespace string) error{}

// race says that the race detector is on.
var race bool

func TestMain(m *testing.M) {
	survival.SideBySide()
	klog.SetLogger(klog.Logger{}) // this logger writes nothing
	utilruntime.ErrorHandlers = nil
	os.Exit(m.Run())
}

// TestBug is the survival test of the controller with one planted bug.
func TestBug(t *testing.T) {
	if *bugName == "" {
		t.Skip("TestPlantedBugs runs this test for each bug")
	}
	start, ok := starts[*bugName]
	if !ok {
		t.Fatalf("there is no bug %q", *bugName)
	}
	survival.Test(t, survival.Controller{
		Start:          start,
		Definition:     "../../testdata/notices.yaml",
		Manifests:      "../../notices/testdata/survival",
		Exact:          []string{"data"},
		Finalizer:      "example.com/notices",
		Reason:         "Created",
		InvalidIsFinal: true,
		Patience:       *patience,
	})
}

// Each planted bug is found, by the judgement that it names. Each judgement finds a bug.
func TestPlantedBugs(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a cluster")
	}
	bugs := readBugs(t)
	wantAllJudgements(t, bugs)
	program := build(t, bugs)
	for _, b := range bugs {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			scenario, _, _ := strings.Cut(b.foundBy, "/")
			var output []byte
			var err error
			// If the first patience is too short for a busy machine, an earlier judgement fails.
			for _, patience := range []time.Duration{10 * time.Second, time.Minute} {
				cmd := exec.CommandContext(t.Context(), program, "-test.v", "-test.timeout=5m",
					"-test.run=^TestBug$/^"+subtest(scenario)+"$", "-bug="+b.name, "-patience="+patience.String())
				output, err = cmd.CombinedOutput()
				if err != nil && found(string(output), b.foundBy) {
					return
				}
			}
			t.Errorf("%s\nwant a failure of %q; the survival test (%v) printed:\n%s",
				b.description, b.foundBy, err, output)
		})
	}
}

// subtest returns the name of a subtest as package testing writes it.
func subtest(name string) string { return strings.ReplaceAll(name, " ", "_") }

// found reports whether a judgement has failed, or has not ended because of a panic.
func found(output, judgement string) bool {
	name := "TestBug/" + subtest(judgement)
	if strings.Contains(output, "--- FAIL: "+name+" (") {
		return true
	}
	begun := regexp.MustCompile(`(?m)^=== (?:RUN|NAME) +(\S+)$`).FindAllStringSubmatch(output, -1)
	return strings.Contains(output, "\npanic: ") && len(begun) > 0 && begun[len(begun)-1][1] == name
}

// wantAllJudgements reads the names of the judgements in the code of the survival test.
func wantAllJudgements(t *testing.T, bugs []bug) {
	t.Helper()
	files, err := filepath.Glob("../*.go")
	must.NoError(t, err)
	judge := regexp.MustCompile(`\br\.judge\("([^"]+)"`)
	n := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		must.NoError(t, err)
		for _, match := range judge.FindAllStringSubmatch(string(text), -1) {
			n++
			if !slices.ContainsFunc(bugs, func(b bug) bool { return strings.HasSuffix(b.foundBy, "/"+match[1]) }) {
				t.Errorf("no planted bug shows what %q finds", match[1])
			}
		}
	}
	t.Logf("%d planted bugs for %d judgements", len(bugs), n)
	if n == 0 {
		t.Error("the code of the survival test has no judgements, want some")
	}
}
