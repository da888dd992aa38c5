package quote_test

import (
	"os/exec"
	"testing"

	"example.com/informer/scripts/harness/quote"
)

// A shell prints the text that was quoted.
func TestShell(t *testing.T) {
	for _, text := range []string{
		"a", "/tmp/x-1.yaml", "", "my clone", "it's", "''", `$HOME\n"*"`, "a\nb", "~", "#a", "é",
	} {
		got, err := exec.CommandContext(t.Context(), "sh", "-c", "printf %s "+quote.Shell(text)).Output()
		if string(got) != text || err != nil {
			t.Errorf("a shell prints Shell(%q) as %q (error: %v)", text, got, err)
		}
	}
	for _, text := range []string{"/tmp/x-1.yaml:/b", "kind-kind@a=b"} {
		if got := quote.Shell(text); got != text {
			t.Errorf("Shell(%q) = %q, want it without quotes", text, got)
		}
	}
}
