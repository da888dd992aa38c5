// The check of the real book, a few rules for the whole workspace, and the helpers of the tests in
// this package.

package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"example.com/informer/docs/book"
)

// TestBook fails with one line for each stale block, dead link, claim without a test, or step that
// no page shows.
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
func inChapters(t *testing.T, root fs.FS, pattern string) []string {
	t.Helper()
	return inFolders(t, root, chapterDir, pattern)
}

// inFolders is inChapters for other folders of the workspace.
func inFolders(t *testing.T, root fs.FS, folders *regexp.Regexp, pattern string) (files []string) {
	t.Helper()
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && name != "." && !folders.MatchString(name) {
			return fs.SkipDir
		}
		match, err := path.Match(pattern, path.Base(name))
		if match && folders.MatchString(name) {
			files = append(files, name)
		}
		return err
	})
	if err != nil {
		t.Fatalf("looking for %s: %v", pattern, err)
	}
	if len(files) == 0 {
		t.Fatalf("no folder %s has a file %s", folders, pattern)
	}
	return files
}

// pages returns the names of all pages of the book.
func pages(t *testing.T, root fs.FS) []string {
	t.Helper()
	names, err := book.PageNames(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(names) == 0 {
		t.Fatal("the book has no pages")
	}
	return names
}

func parse(t *testing.T, root fs.FS, file string) *ast.File {
	t.Helper()
	tree, err := parser.ParseFile(token.NewFileSet(), file, readFile(t, root, file), parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func readFile(t *testing.T, root fs.FS, name string) string {
	t.Helper()
	text, err := fs.ReadFile(root, name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Each exercise has a link in the list of all exercises, and on another page of the book.
func TestExercisesAreLinked(t *testing.T) {
	const list = "docs/practice.md"
	tree := root(t)
	exercises, err := fs.Glob(tree, "0*/practice/*.md")
	if err != nil {
		t.Fatal(err)
	}
	if len(exercises) == 0 {
		t.Fatal("the chapters have no exercises")
	}
	var others strings.Builder
	for _, page := range pages(t, tree) {
		if page != list {
			others.WriteString(readFile(t, tree, page))
		}
	}
	for _, exercise := range exercises {
		link := "(../" + exercise + ")"
		if !strings.Contains(readFile(t, tree, list), link) {
			t.Errorf("%s has no link to %s", list, exercise)
		}
		if !strings.Contains(others.String(), link) {
			t.Errorf("no page but %s has a link to %s", list, exercise)
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

var halfAnHour = regexp.MustCompile(`(?s)\n\*\*Half an hour\b(.*?)\n\*\*`)

// The way through the book that takes half an hour takes no longer, with the time to read and to
// run its steps.
func TestHalfAnHour(t *testing.T) {
	text := halfAnHour.FindString(readFile(t, root(t), "README.md"))
	sum := 0
	for _, match := range regexp.MustCompile(`<!-- minutes .*? -->(\d+)`).FindAllStringSubmatch(text, -1) {
		minutes, err := strconv.Atoi(match[1])
		if err != nil {
			t.Fatal(err)
		}
		sum += minutes
	}
	if sum == 0 || sum > 30 {
		t.Errorf("the README's half an hour takes %d minutes, want 1 to 30, from the figures in\n%s", sum, text)
	}
}
