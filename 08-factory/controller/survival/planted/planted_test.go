// Package planted shows what the survival test finds. Each file in testdata plants a bug in the
// controller of package notices, and names the scenario that must find it.
package planted

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"example.com/informer/08-factory/controller/survival"
	"example.com/informer/scripts/harness/must"
)

// bugName is set by TestPlantedBugs.
var bugName = flag.String("bug", "", "the planted bug that TestBug runs")

// starts has the start function of the controller with each bug. It is empty, except in the program
// that TestPlantedBugs builds.
var starts = map[string]func(ctx context.Context, config *rest.Config, namespace string) error{}

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
	survival.Test(t, survival.Controller{
		Start:      starts[*bugName],
		Definition: "../../testdata/notices.yaml",
		Manifests:  "../../notices/testdata/survival",
		Exact:      []string{"data"},
		Finalizer:  "example.com/notices",
		Reason:     "Created",
	})
}

// Each planted bug is found, by the scenario that it names.
func TestPlantedBugs(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a cluster")
	}
	paths, err := filepath.Glob("testdata/*.diff")
	must.NoError(t, err)
	var bugs []bug
	for _, path := range paths {
		bugs = append(bugs, readBug(t, path))
	}
	program := build(t, bugs)
	for _, b := range bugs {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			subtest := strings.ReplaceAll(b.foundBy, " ", "_")
			output, err := exec.CommandContext(t.Context(), program, "-test.v", "-test.timeout=10m",
				"-test.run=^TestBug$/^"+subtest+"$", "-bug="+b.name).CombinedOutput()
			failed := strings.Contains(string(output), "--- FAIL: TestBug/"+subtest+" (")
			panicked := strings.Contains(string(output), "\npanic: ")
			if err == nil || !failed && !panicked {
				t.Errorf("%s\nwant a failure of %q; the survival test (%v) printed:\n%s",
					b.description, b.foundBy, err, output)
			}
		})
	}
}
