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

// A module inside a chapter has pages of its own.
func TestVersionsAtAnyDepth(t *testing.T) {
	tree := fstest.MapFS{
		"go.work":                 {Data: []byte("use (\n\t./08-x\n\t./08-x/deep/er\n)\n")},
		"08-x/go.mod":             {Data: []byte("go 1.26.0\n\nrequire k8s.io/api v0.1.0\n")},
		"08-x/deep/er/go.mod":     {Data: []byte("go 1.26.0\n\nrequire (\n\tk8s.io/client-go v0.2.0\n)\n")},
		"08-x/outside/go.mod":     {Data: []byte("go 1.25.0\n")}, // of the workspace
		"docs/08-x.md":            {Data: []byte("# X\n\n*Kubernetes API v0.1.0, Go 1.26*\n\n")},
		"docs/08-x-deep-er-up.md": {Data: []byte("# X\n\n*client-go v0.1.0, Go 1.26*\n\n")},
	}
	want := "docs/08-x-deep-er-up.md:3: write *client-go v0.2.0, Go 1.26* here, which is what 08-x/deep/er/go.mod says"
	if got := strings.Join(checkVersions(t, tree), "\n"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// modules of chapters in go.work, the inner ones after those around them.
var modules = regexp.MustCompile(`(?m)^\s*(?:use )?\./([0-9][0-9]-\S+)`)

// checkVersions looks at each page. It belongs to the innermost module whose folder
// its name begins with: docs/08-x-deep-up.md to 08-x/deep.
func checkVersions(t *testing.T, root fs.FS) (problems []string) {
	t.Helper()
	pages, _ := fs.Glob(root, "docs/[0-9][0-9]-*.md")
	found := modules.FindAllStringSubmatch(readFile(t, root, "go.work"), -1)
	if len(pages) == 0 || len(found) == 0 {
		t.Fatalf("found %d pages and %d chapters", len(pages), len(found))
	}
	for _, page := range pages {
		module := ""
		for _, m := range found {
			if strings.HasPrefix(path.Base(page), strings.ReplaceAll(m[1], "/", "-")) && len(m[1]) > len(module) {
				module = m[1]
			}
		}
		want := versions(t, root, module+"/go.mod")
		if lines := strings.SplitN(readFile(t, root, page), "\n", 4); len(lines) < 4 || lines[2] != want {
			problems = append(problems, page+":3: write "+want+" here, which is what "+module+"/go.mod says")
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
