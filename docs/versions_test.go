// The versions that the pages of the chapters name.

package main

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

// Below its title, a page names the versions of its chapter.
func TestPagesNameTheVersionsOfTheirChapter(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	root := os.DirFS(here + "/..") // uncleaned, as in TestBook
	modules, err := fs.Glob(root, "[0-9][0-9]-*/go.mod")
	if err != nil || len(modules) == 0 {
		t.Fatalf("found no chapters: %v", err)
	}
	for _, module := range modules {
		want := versions(t, root, module)
		pages, err := fs.Glob(root, "docs/"+path.Dir(module)+"*.md")
		if err != nil || len(pages) == 0 {
			t.Errorf("found no pages of %s: %v", path.Dir(module), err)
		}
		for _, page := range pages {
			lines := strings.SplitN(readFile(t, root, page), "\n", 4)
			if len(lines) < 4 || lines[2] != want {
				t.Errorf("%s:3: write %s here, which is what %s says", page, want, module)
			}
		}
	}
}

// named are the versions of a go.mod that a page names, in this order.
var named = []struct {
	name    string
	version *regexp.Regexp
}{
	{"client-go", regexp.MustCompile(`(?m)^\s*(?:require )?k8s\.io/client-go (v\S+)`)},
	{"Kubernetes API", regexp.MustCompile(`(?m)^\s*(?:require )?k8s\.io/api (v\S+)`)},
	{"Go", regexp.MustCompile(`(?m)^go (\d+\.\d+)`)},
}

// versions is the line for the pages of a chapter. What its go.mod lacks is
// left out.
func versions(t *testing.T, root fs.FS, module string) string {
	t.Helper()
	text := readFile(t, root, module)
	var found []string
	for _, n := range named {
		if m := n.version.FindStringSubmatch(text); m != nil {
			found = append(found, n.name+" "+m[1])
		}
	}
	return "*" + strings.Join(found, ", ") + "*"
}

func readFile(t *testing.T, root fs.FS, name string) string {
	t.Helper()
	text, err := fs.ReadFile(root, name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
