// The versions that the pages of the chapters name.

package main

import (
	"io/fs"
	"path"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

// Below its title, a page names the versions of its chapter.
func TestPagesNameTheVersionsOfTheirChapter(t *testing.T) {
	for _, problem := range checkVersions(t, root(t)) {
		t.Error(problem)
	}
}

// A chapter has several pages, and they begin with its number.
func TestVersionsOnEachPage(t *testing.T) {
	tree := fstest.MapFS{
		"08-x/go.mod":      {Data: []byte("go 1.26.0\n\nrequire (\n\tk8s.io/client-go v0.2.0\n)\n")},
		"docs/08-x.md":     {Data: []byte("# X\n\n*client-go v0.2.0, Go 1.26*\n\n")},
		"docs/08-other.md": {Data: []byte("# X\n\n*client-go v0.1.0, Go 1.26*\n\n")},
	}
	want := "docs/08-other.md:3: write *client-go v0.2.0, Go 1.26* here, which is what 08-x/go.mod says"
	if got := strings.Join(checkVersions(t, tree), "\n"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// checkVersions looks at each page of each chapter.
func checkVersions(t *testing.T, root fs.FS) (problems []string) {
	t.Helper()
	pages, _ := fs.Glob(root, "docs/[0-9][0-9]-*.md")
	if len(pages) == 0 {
		t.Fatal("found no pages")
	}
	for _, page := range pages {
		modules, _ := fs.Glob(root, path.Base(page)[:3]+"*/go.mod")
		if len(modules) != 1 {
			t.Fatalf("%s: the chapter of its number is not one, but %q", page, modules)
		}
		want := versions(t, root, modules[0])
		if lines := strings.SplitN(readFile(t, root, page), "\n", 4); len(lines) < 4 || lines[2] != want {
			problems = append(problems, page+":3: write "+want+" here, which is what "+modules[0]+" says")
		}
	}
	return problems
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
