// The versions that the pages of the chapters name.

package main

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// Below its title, a page leads to the folder of its chapter, and names the versions there.
func TestPagesNameTheFolderAndTheVersionsOfTheirChapter(t *testing.T) {
	for _, problem := range checkVersions(t, root(t)) {
		t.Error(problem)
	}
}

// All pages of a chapter are checked: their names begin with the number of the chapter.
func TestVersionsOnEachPage(t *testing.T) {
	const line = "*Code in [08-x](../08-x/README.md), with client-go v0.2.0, Go 1.26*"
	tree := fstest.MapFS{
		"08-x/go.mod":      {Data: []byte("go 1.26.0\n\nrequire (\n\tk8s.io/client-go v0.2.0\n)\n")},
		"docs/08-x.md":     {Data: []byte("# X\n\n" + line + "\n\n")},
		"docs/08-other.md": {Data: []byte("# X\n\n" + strings.Replace(line, "v0.2", "v0.1", 1) + "\n\n")},
	}
	want := []string{"docs/08-other.md:3: write " + line + " here, which is what 08-x/go.mod says"}
	if diff := cmp.Diff(want, checkVersions(t, tree)); diff != "" {
		t.Errorf("checkVersions() differs (-want +got):\n%s", diff)
	}
}

// checkVersions returns a line for each page of a chapter that does not lead to the chapter's folder,
// or does not name the versions of its go.mod.
func checkVersions(t *testing.T, root fs.FS) (problems []string) {
	t.Helper()
	chapterPages, err := fs.Glob(root, "docs/[0-9][0-9]-*.md")
	if err != nil {
		t.Fatal(err)
	}
	if len(chapterPages) == 0 {
		t.Fatal("docs has no pages of chapters")
	}
	for _, page := range chapterPages {
		pattern := path.Base(page)[:3] + "*/go.mod"
		modules, err := fs.Glob(root, pattern)
		if err != nil {
			t.Fatal(err)
		}
		if len(modules) != 1 {
			t.Fatalf("the chapter of %s: %s matches %q, want one file", page, pattern, modules)
		}
		want := versionLine(t, root, modules[0])
		lines := strings.SplitN(readFile(t, root, page), "\n", 4)
		if len(lines) < 4 || lines[2] != want {
			problems = append(problems, page+":3: write "+want+" here, which is what "+modules[0]+" says")
		}
	}
	return problems
}

// versionPatterns find the versions in a go.mod, in the order in which a page names them.
var versionPatterns = []struct {
	name    string
	pattern *regexp.Regexp
}{
	{"client-go", regexp.MustCompile(`(?m)^\s*(?:require )?k8s\.io/client-go (v\S+)`)},
	{"Kubernetes API", regexp.MustCompile(`(?m)^\s*(?:require )?k8s\.io/api (v\S+)`)},
	{"Go", regexp.MustCompile(`(?m)^go (\d+\.\d+)`)},
}

// versionLine returns the line for the pages of a chapter. It leaves out a module that go.mod does
// not require.
func versionLine(t *testing.T, root fs.FS, goMod string) string {
	t.Helper()
	text := readFile(t, root, goMod)
	var versions []string
	for _, v := range versionPatterns {
		if match := v.pattern.FindStringSubmatch(text); match != nil {
			versions = append(versions, v.name+" "+match[1])
		}
	}
	folder := path.Dir(goMod)
	return fmt.Sprintf("*Code in [%s](../%s/README.md), with %s*", folder, folder, strings.Join(versions, ", "))
}
