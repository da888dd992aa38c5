// The real check: the pages of this workspace match its code, and what the chapters import.

package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path"
	"regexp"
	"strings"
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

// Every exercise is at the end of a page of its chapter, and in the list of all.
func TestExercisesAreLinked(t *testing.T) {
	tree := root(t)
	exercises, err := fs.Glob(tree, "0*/practice/*.md")
	if err != nil || len(exercises) == 0 {
		t.Fatal("no exercises", err)
	}
	for _, exercise := range exercises {
		link := "(../" + exercise + ")"
		if !strings.Contains(readFile(t, tree, "docs/practice.md"), link) {
			t.Errorf("docs/practice.md has no link to %s", exercise)
		}
		pages, err := fs.Glob(tree, "docs/"+exercise[:2]+"-*.md")
		if err != nil {
			t.Fatal(err)
		}
		linked := false
		for _, page := range pages {
			_, end, _ := strings.Cut(readFile(t, tree, page), "\n[Practise](practice.md)")
			linked = linked || strings.Contains(end, link)
		}
		if !linked {
			t.Errorf("no page of chapter %s ends with a link to %s", exercise[:2], path.Base(exercise))
		}
	}
}

// Chapters 01 and 06 have no clients, and of the API's types only those of the
// core: so they build fast.
func TestChaptersWithoutAClusterImportNoClients(t *testing.T) {
	for _, chapter := range []string{"01-deltafifo", "06-processor"} {
		imports, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "../"+chapter).Output()
		if err != nil {
			t.Fatalf("%s: %v", chapter, err)
		}
		for _, path := range strings.Fields(string(imports)) {
			if path == "k8s.io/client-go/kubernetes" ||
				strings.HasPrefix(path, "k8s.io/api/") && path != "k8s.io/api/core/v1" {
				t.Fatalf("%s imports %s", chapter, path)
			}
		}
	}
}
