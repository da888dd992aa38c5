// Tests of how a check ends a program that does not end by itself.

package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"example.com/informer/scripts/harness/must"
)

// A program that hangs, and one that prints without end, are ended with their children, even if
// these ignore the interrupt.
func TestAProgramIsEndedWithItsChildren(t *testing.T) {
	const child = `trap "" INT; sleep 1000 > "$0" & `
	for name, test := range map[string]struct {
		script  string
		longest time.Duration
		want    string // the error
	}{
		"it hangs":              {child + `sleep 1000`, time.Second, "ran for more than 1s"},
		"it prints without end": {child + `yes yes`, time.Hour, "printed more than 64 KiB"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			open := filepath.Join(dir, "open")
			must.NoError(t, syscall.Mkfifo(open, 0o600))
			var ended atomic.Bool
			go func() {
				file, err := os.Open(open) // returns when the child writes
				if err == nil {
					_, err = io.Copy(io.Discard, file) // returns when the child has ended
					file.Close()
				}
				if err != nil {
					t.Error(err)
				}
				ended.Store(true)
			}()
			c := newChecker(dir, dir, "", &strings.Builder{})
			c.most, c.grace = 64<<10, 100*time.Millisecond
			text, err := c.run(t.Context(), test.longest, dir, "running", "sh", "-c", test.script, open)
			if want := endless + test.want; err == nil || err.Error() != want {
				t.Errorf("run() = %v, want %q", err, want)
			}
			if len(text) > c.most {
				t.Errorf("run() returns %d bytes, want %d at most", len(text), c.most)
			}
			must.Until(t, "the child has ended", ended.Load)
		})
	}
}
