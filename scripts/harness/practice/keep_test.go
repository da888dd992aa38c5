// Tests of keep, the only command that changes the reader's own files.

package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/informer/scripts/harness/must"
)

// What else the reader has changed in the clone stays, with the mode and the ends of lines of the file.
func TestKeepMerges(t *testing.T) {
	for name, end := range map[string]string{"LF": "\n", "CRLF": "\r\n"} {
		t.Run(name, func(t *testing.T) {
			root := toy(t)
			solveJoin(t, root)
			const helper = "\n// glue is a helper.\nfunc glue() {}\n"
			change(t, in(root, "join"), "\n// Count counts", helper+"\n// Count counts")
			writeFile(t, in(root, "join"), "01-toy/größe.go", "package toy\n")
			writeFile(t, in(root, "join"), "notes.txt", "mine\n")
			own := strings.Replace(toyText(root), "Package toy has", "Package toy, mine, has", 1)
			writeFile(t, root, toyFile, strings.ReplaceAll(own, "\n", end))
			must.NoError(t, os.Chmod(filepath.Join(root, toyFile), 0o640))
			before := value(os.Open(filepath.Join(root, toyFile)))
			defer before.Close()
			old := toyText(root)
			wantContains(t, "keep", runCommand(t, root, "keep", "join"),
				"Yours now: 01-toy/toy.go\n", "Yours now: 01-toy/größe.go\n")
			if text := value(io.ReadAll(before)); string(text) != old {
				t.Errorf("keep has written into the old file, which is now\n%s\nwant another file in its place", text)
			}
			want := strings.Replace(toyText(in(root, "join")), "Package toy has", "Package toy, mine, has", 1)
			wantFile(t, "after keep", filepath.Join(root, toyFile), strings.ReplaceAll(want, "\n", end))
			if mode := value(os.Stat(filepath.Join(root, toyFile))).Mode(); mode != 0o640 {
				t.Errorf("after keep, the mode of the file is %v, want 0640 as before", mode)
			}
			wantFile(t, "after keep", filepath.Join(root, "01-toy/größe.go"), "package toy\n")
			if _, err := os.Stat(filepath.Join(root, "notes.txt")); err == nil {
				t.Error("keep has brought notes.txt, want only Go files")
			}
			wantContains(t, "keep again", runCommand(t, root, "keep", "join"), "nothing has changed")
		})
	}
}

// Where one file has other changes at the same place, none is changed.
func TestKeepRefusesAConflict(t *testing.T) {
	for name, conflict := range map[string]func(t *testing.T, root string){
		"other code": func(t *testing.T, root string) {
			change(t, root, "strings.Join(parts, separator())", `strings.Join(parts, "/" /* mine */)`)
		},
		"the file is gone": func(t *testing.T, root string) {
			must.NoError(t, os.Remove(filepath.Join(root, toyFile)))
		},
		"a link": func(t *testing.T, root string) {
			must.NoError(t, os.Rename(filepath.Join(root, toyFile), filepath.Join(root, "elsewhere")))
			must.NoError(t, os.Symlink(filepath.Join(root, "elsewhere"), filepath.Join(root, toyFile)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			root := toy(t)
			solveJoin(t, root)
			writeFile(t, in(root, "join"), "01-toy/another.go", "package toy\n")
			conflict(t, root)
			before := byReader(t, root, "status", "--short") + byReader(t, root, "diff")
			wantRefused(t, root, []string{"keep", "join"},
				"at the same places of 01-toy/toy.go. Nothing has changed, and your solution is in .practice/join")
			if after := byReader(t, root, "status", "--short") + byReader(t, root, "diff"); after != before {
				t.Errorf("after keep, the clone has\n%s\nwant what it had\n%s", after, before)
			}
		})
	}
}
