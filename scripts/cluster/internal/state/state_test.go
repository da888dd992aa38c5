// Tests of the .cluster folder.
package state

import (
	"os"
	"path/filepath"
	"testing"
)

func TestClearKeepsLogsOnly(t *testing.T) {
	d := Of(t.TempDir())
	if err := d.Clear(); err != nil {
		t.Fatalf("nothing there: %v", err)
	}
	if err := d.SetProvider("local"); err != nil {
		t.Fatal(err)
	}
	if got, err := d.Provider(); got != "local" || err != nil {
		t.Fatalf("Provider() = %q, %v", got, err)
	}
	for _, sub := range []string{"logs", "data"} {
		if err := os.MkdirAll(filepath.Join(string(d), sub, "x"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Clear(); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(string(d))
	if err != nil || len(left) != 1 || left[0].Name() != "logs" {
		t.Fatalf("left: %v, %v", left, err)
	}
	if got, err := d.Provider(); got != "" || err != nil {
		t.Fatalf("Provider() = %q, %v", got, err)
	}
}
