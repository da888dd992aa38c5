// Helpers for tests of claims about client-go.

package must

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// FindInClientGo wants these texts in a file of client-go's tools/cache. It ignores line breaks and comment
// marks.
func FindInClientGo(t testing.TB, file string, texts ...string) {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.Dir}}", "k8s.io/client-go/tools/cache")
	dir, err := list.Output()
	NoError(t, err)
	source, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), file))
	NoError(t, err)
	oneLine := strings.Join(strings.Fields(strings.ReplaceAll(string(source), "//", "")), " ")
	for _, text := range texts {
		if !strings.Contains(oneLine, text) {
			t.Errorf("%s does not say %q any more", file, text)
		}
	}
}

// RunInSubprocess runs a test of this program in another process, with more environment variables, and
// returns its output. It is for settings that are read at the start of a program, and for a test
// that ends the program. A process that hangs ends after five minutes.
func RunInSubprocess(t testing.TB, test string, env ...string) (output string, err error) {
	t.Helper()
	self, err := os.Executable()
	NoError(t, err)
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^"+test+"$", "-test.timeout=5m")
	cmd.Env = append(os.Environ(), env...)
	text, err := cmd.CombinedOutput()
	return string(text), err
}
