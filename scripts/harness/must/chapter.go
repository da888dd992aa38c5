// Tests of the steps of a chapter: against their transcripts, and with Ctrl-C.

package must

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"k8s.io/apimachinery/pkg/util/sets"

	"example.com/informer/scripts/harness/workspace"
)

// A Chapter is what these tests need of a play.Chapter.
type Chapter interface {
	StepNames() []string
	CheckManifest(root fs.FS) error
	Transcripts() ([]string, error) // the names of the steps that have one
	StepNeedsCluster(name string) bool
	CheckStep(ctx context.Context, name string, show func(line string)) error
}

// Play plays every step of the chapter as a parallel subtest. With -short, it skips the steps that
// need a cluster. It fails if a transcript belongs to no step, or if the manifest of the steps is not
// up to date.
func Play(t *testing.T, c Chapter) {
	eachStep(t, c, func(t *testing.T, name string) {
		skipShort(t, c, name)
		t.Parallel()
		check(t, c, name)
	})
}

// PlayInFakeTime is Play for steps that wait, and that use no network. Each step runs in a bubble
// of testing/synctest, where waiting takes no time. The steps run one after the other.
func PlayInFakeTime(t *testing.T, c Chapter) {
	eachStep(t, c, func(t *testing.T, name string) {
		synctest.Test(t, func(t *testing.T) { check(t, c, name) })
	})
}

// eachStep runs a subtest for each step, and compares the names of the steps with those of the
// transcripts.
func eachStep(t *testing.T, c Chapter, test func(t *testing.T, name string)) {
	root, err := workspace.Root(".")
	NoError(t, err)
	if err := c.CheckManifest(os.DirFS(root)); err != nil {
		t.Error(err)
	}
	names, err := c.Transcripts()
	NoError(t, err)
	transcripts := sets.New(names...)
	for _, name := range c.StepNames() {
		if !transcripts.Has(name) {
			t.Errorf("there is no testdata/%s.txt: write it with -update %s", name, name)
		}
		transcripts.Delete(name)
		t.Run(name, func(t *testing.T) { test(t, name) })
	}
	if len(transcripts) > 0 {
		t.Errorf("these transcripts belong to no step, remove them: %q", sets.List(transcripts))
	}
}

// skipShort skips the test of a step that needs a cluster, with -short.
func skipShort(t *testing.T, c Chapter, name string) {
	if c.StepNeedsCluster(name) && testing.Short() {
		t.Skip("needs a cluster")
	}
}

// check plays a step. If the step does not do what its transcript says, the error shows all lines.
func check(t *testing.T, c Chapter, name string) {
	t.Helper()
	var shown strings.Builder
	err := c.CheckStep(t.Context(), name, func(line string) { fmt.Fprintln(&shown, line) })
	if err != nil {
		t.Errorf("%v\nall lines of the step:\n%s", err, &shown)
	}
}

// EndOnCtrlC runs the step of this name twice, as parallel subtests. Ctrl-C comes at the first line
// that the step shows, and at the second. TestMain finds goroutines that the step has left behind.
func EndOnCtrlC(t *testing.T, c Chapter, name string) {
	skipShort(t, c, name)
	for nth := 1; nth <= 2; nth++ {
		t.Run(fmt.Sprintf("%s, line %d", name, nth), func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			lines := 0
			err := c.CheckStep(ctx, name, func(string) {
				lines++
				if lines == nth {
					cancel()
				}
			})
			if lines < nth {
				t.Errorf("the step showed %d lines, want %d at least", lines, nth)
			}
			if !errors.Is(err, context.Canceled) {
				t.Errorf("CheckStep() = %v, want %v", err, context.Canceled)
			}
		})
	}
}
