// The real check: the pages of this workspace match its code.

package main

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"testing"

	"example.com/informer/docs/book"
)

// TestBook fails with one line for each stale block, dead link, claim without
// a test, or page out of shape.
func TestBook(t *testing.T) {
	b, err := book.Load(root(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range b.Problems() {
		t.Error(problem)
	}
}

// root is the workspace, spelled as this folder plus "/..", uncleaned, on purpose: `go test`
// caches a result until a file below the module changes, and it decides by the name a
// file was opened under. Spelled so, a change in a chapter counts.
func root(t *testing.T) fs.FS {
	t.Helper()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return os.DirFS(here + "/..")
}

var chapter = regexp.MustCompile(`^[0-9][0-9]-`)

// inChapters are the files of all chapters whose names match, however deep.
func inChapters(t *testing.T, root fs.FS, pattern string) (files []string) {
	t.Helper()
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if entry.IsDir() && name != "." && !chapter.MatchString(name) {
			return fs.SkipDir
		}
		if match, _ := path.Match(pattern, path.Base(name)); match && chapter.MatchString(name) {
			files = append(files, name)
		}
		return err
	})
	if err != nil || len(files) == 0 {
		t.Fatalf("found no %s: %v", pattern, err)
	}
	return files
}

func readFile(t *testing.T, root fs.FS, name string) string {
	t.Helper()
	text, err := fs.ReadFile(root, name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
