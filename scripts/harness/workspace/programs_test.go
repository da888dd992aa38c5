// Every program of the workspace says what it is for, and refuses what it does not know.

package workspace_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/workspace"
)

// commands are the programs of go.work, each built once, and the scripts.
func commands(t *testing.T) (all []string) {
	t.Helper()
	root, err := workspace.Root(".")
	must.Do(t, err)
	list := exec.CommandContext(t.Context(), "go", "list", "-f", `{{if eq .Name "main"}}{{.ImportPath}}{{end}}`, "work")
	list.Dir = root
	output, err := list.Output()
	must.Do(t, err)
	folder := t.TempDir()
	for i, program := range strings.Fields(string(output)) {
		name := filepath.Join(folder, fmt.Sprintf("%02d-%s", i, filepath.Base(program)))
		build := exec.CommandContext(t.Context(), "go", "build", "-o", name, program)
		build.Dir = root
		if said, err := build.CombinedOutput(); err != nil {
			t.Fatalf("go build %s: %v\n%s", program, err, said)
		}
		all = append(all, name)
	}
	scripts, err := filepath.Glob(filepath.Join(root, "scripts", "*.sh"))
	must.Do(t, err)
	if len(all) < 10 || len(scripts) < 10 {
		t.Fatalf("found only %d programs and %d scripts", len(all), len(scripts))
	}
	return append(all, scripts...)
}

func TestEveryProgramAnswersHelpAndRefusesWhatItDoesNotKnow(t *testing.T) {
	for _, command := range commands(t) {
		t.Run(filepath.Base(command), func(t *testing.T) {
			run := func(argument string) (said string, ok bool) {
				cmd := exec.CommandContext(t.Context(), command, argument)
				cmd.Env = append(os.Environ(), "KUBECONFIG=", "INFORMER_CLUSTER_GUARD=")
				output, err := cmd.CombinedOutput()
				return string(output), err == nil
			}
			if said, ok := run("-h"); !ok || len(said) < 50 {
				t.Errorf("-h: succeeded %t, and said %q; want success and what it is for", ok, said)
			}
			for _, unknown := range []string{"-no-such-flag", "nonsense"} {
				if said, ok := run(unknown); ok || !strings.Contains(said, strings.TrimLeft(unknown, "-")) {
					t.Errorf("%s: succeeded %t, and said %q; want a refusal that names it", unknown, ok, said)
				}
			}
		})
	}
}
