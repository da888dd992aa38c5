// The versions that the pages of the chapters name.

package main

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"testing"
)

// Below its title, a page leads to the folder of its chapter, and names the versions there. The names
// of all pages of a chapter begin with its number.
func TestPagesNameTheFolderAndTheVersionsOfTheirChapter(t *testing.T) {
	tree, checked := root(t), 0
	for _, page := range pages(t, tree) {
		if !chapterDir.MatchString(strings.TrimPrefix(page, "docs/")) {
			continue
		}
		checked++
		modules, err := fs.Glob(tree, path.Base(page)[:3]+"*/go.mod")
		if err != nil || len(modules) != 1 {
			t.Fatalf("%s: found the modules %q of its chapter, error %v; want one module", page, modules, err)
		}
		want := versionLine(t, tree, modules[0])
		if lines := strings.SplitN(readFile(t, tree, page), "\n", 4); len(lines) < 4 || lines[2] != want {
			t.Errorf("%s:3: write %s here, as %s says", page, want, modules[0])
		}
	}
	if checked == 0 {
		t.Error("the book has no pages of chapters")
	}
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
