// The check of the real book, a few rules for the whole workspace, and the helpers of the tests in
// this package.

package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/informer/docs/book"
)

// TestBook fails with one line for each stale block, dead link, claim without a test, or page out
// of shape.
func TestBook(t *testing.T) {
	b, err := book.Load(root(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range b.Problems() {
		t.Error(problem)
	}
}

// root returns the workspace. Its path is this folder plus "/..", and is not cleaned, on purpose:
// `go test` caches a result until a file below the module changes, and it looks at the path under
// which a file was opened. With this path, a change in a chapter invalidates the cached result.
func root(t *testing.T) fs.FS {
	t.Helper()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return os.DirFS(here + "/..")
}

var chapterDir = regexp.MustCompile(`^[0-9][0-9]-`)

// inChapters returns the files of all chapters whose base names match the pattern, however deep
// they are.
func inChapters(t *testing.T, root fs.FS, pattern string) (files []string) {
	t.Helper()
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && name != "." && !chapterDir.MatchString(name) {
			return fs.SkipDir
		}
		match, err := path.Match(pattern, path.Base(name))
		if match && chapterDir.MatchString(name) {
			files = append(files, name)
		}
		return err
	})
	if err != nil {
		t.Fatalf("looking for %s: %v", pattern, err)
	}
	if len(files) == 0 {
		t.Fatalf("no chapter has a file %s", pattern)
	}
	return files
}

// pages returns the names of README.md and of all pages of docs.
func pages(t *testing.T, root fs.FS) []string {
	t.Helper()
	names, err := fs.Glob(root, "docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	if len(names) == 0 {
		t.Fatal("docs has no pages")
	}
	return append(names, "README.md")
}

func readFile(t *testing.T, root fs.FS, name string) string {
	t.Helper()
	text, err := fs.ReadFile(root, name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Each exercise has a link at the end of a page of its chapter, and in the list of all exercises.
func TestExercisesAreLinked(t *testing.T) {
	tree := root(t)
	exercises, err := fs.Glob(tree, "0*/practice/*.md")
	if err != nil {
		t.Fatal(err)
	}
	if len(exercises) == 0 {
		t.Fatal("the chapters have no exercises")
	}
	list := readFile(t, tree, "docs/practice.md")
	for _, exercise := range exercises {
		link := "(../" + exercise + ")"
		if !strings.Contains(list, link) {
			t.Errorf("docs/practice.md has no link to %s", exercise)
		}
		chapterPages, err := fs.Glob(tree, "docs/"+exercise[:2]+"-*.md")
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(chapterPages, func(page string) bool {
			_, end, _ := strings.Cut(readFile(t, tree, page), "\n[Practise](practice.md)")
			return strings.Contains(end, link)
		}) {
			t.Errorf("none of %q ends with a link to %s", chapterPages, exercise)
		}
	}
}

// Chapters 01 and 06 import no clients, and of the API's types only the core ones, so they build
// fast.
func TestChaptersWithoutAClusterImportNoClients(t *testing.T) {
	for _, chapter := range []string{"01-deltafifo", "06-processor"} {
		output, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "../"+chapter).Output()
		if err != nil {
			t.Fatalf("go list -deps ../%s: %v", chapter, err)
		}
		for _, imported := range strings.Fields(string(output)) {
			isClient := imported == "k8s.io/client-go/kubernetes"
			isOtherAPI := strings.HasPrefix(imported, "k8s.io/api/") && imported != "k8s.io/api/core/v1"
			if isClient || isOtherAPI {
				t.Errorf("%s imports %s", chapter, imported)
			}
		}
	}
}
