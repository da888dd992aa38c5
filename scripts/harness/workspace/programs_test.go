// Tests that every program of the workspace has a help text, and refuses unknown arguments.

package workspace_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/workspace"
)

// commands builds the programs of go.work, and returns their paths and those of the scripts.
func commands(t *testing.T) (all []string) {
	t.Helper()
	root, err := workspace.Root(".")
	must.NoError(t, err)
	list := exec.CommandContext(t.Context(), "go", "list", "-f", `{{if eq .Name "main"}}{{.ImportPath}}{{end}}`, "work")
	list.Dir = root
	output, err := list.Output()
	must.NoError(t, err)
	folder := t.TempDir()
	for i, program := range strings.Fields(string(output)) {
		name := filepath.Join(folder, fmt.Sprintf("%02d-%s", i, filepath.Base(program)))
		build := exec.CommandContext(t.Context(), "go", "build", "-o", name, program)
		build.Dir = root
		if output, err := build.CombinedOutput(); err != nil {
			t.Fatalf("go build %s: %v\n%s", program, err, output)
		}
		all = append(all, name)
	}
	scripts, err := filepath.Glob(filepath.Join(root, "scripts", "*.sh"))
	must.NoError(t, err)
	if len(all) < 10 || len(scripts) < 10 {
		t.Fatalf("found %d programs and %d scripts, want 10 of each at least", len(all), len(scripts))
	}
	return append(all, scripts...)
}

func TestEveryProgramAnswersHelpAndRefusesWhatItDoesNotKnow(t *testing.T) {
	for _, command := range commands(t) {
		t.Run(filepath.Base(command), func(t *testing.T) {
			run := func(argument string) (output string, err error) {
				// A program that takes no notice of its arguments would do its work, for half an hour perhaps.
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
				defer cancel()
				cmd := exec.CommandContext(ctx, command, argument)
				cmd.WaitDelay = time.Second // a script that is killed leaves its children behind, with the output
				cmd.Env = append(os.Environ(), "KUBECONFIG=", "INFORMER_CLUSTER_GUARD=")
				text, err := cmd.CombinedOutput()
				return string(text), err
			}
			if output, err := run("-h"); err != nil || len(output) < 50 {
				t.Errorf("-h: error %v, output %q; want no error, and a text of 50 characters at least", err, output)
			}
			for _, unknown := range []string{"-no-such-flag", "nonsense"} {
				output, err := run(unknown)
				if err == nil {
					t.Errorf("%s: no error, want one; output %q", unknown, output)
				}
				if name := strings.TrimLeft(unknown, "-"); !strings.Contains(output, name) {
					t.Errorf("%s: output %q, want %q in it", unknown, output, name)
				}
			}
		})
	}
}
