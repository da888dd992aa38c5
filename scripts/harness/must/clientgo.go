// What claims about client-go need.

package must

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Say wants these texts in a file of client-go's tools/cache, wherever its lines break.
func Say(t testing.TB, file string, texts ...string) {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.Dir}}", "k8s.io/client-go/tools/cache")
	dir, err := list.Output()
	Do(t, err)
	source, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), file))
	Do(t, err)
	words := strings.Join(strings.Fields(strings.ReplaceAll(string(source), "//", "")), " ")
	for _, text := range texts {
		if !strings.Contains(words, text) {
			t.Errorf("%s does not say %q any more", file, text)
		}
	}
}

// RunAgain runs a test of this program in a process of its own, with more in its
// environment: for what can only be set from outside, and for what ends a program. A process
// that hangs ends after five minutes.
func RunAgain(t testing.TB, test string, env ...string) (said string, err error) {
	t.Helper()
	self, err := os.Executable()
	Do(t, err)
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^"+test+"$", "-test.timeout=5m")
	cmd.Env = append(os.Environ(), env...)
	output, err := cmd.CombinedOutput()
	return string(output), err
}
