// The README.md of each chapter's folder.

package main

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	chapterNumber = regexp.MustCompile(`\bchapter (\d\d)\b`)
	chapterImport = regexp.MustCompile(`(?m)^\s*(?:\w+ )?"example\.com/informer/(\d\d)-`)
)

// maxProse is how many lines of headings and prose the README.md of a chapter has at most. The lists
// of its pages and steps come on top.
const maxProse = 6

// The README.md of a chapter is short. It names the earlier chapters whose packages the chapter
// imports, and no others.
func TestFoldersSayWhatTheyTake(t *testing.T) {
	tree := root(t)
	chapters, err := fs.Glob(tree, "0*/go.mod")
	if err != nil || len(chapters) < 8 {
		t.Fatalf("found the chapters %q, error %v; want at least 8", chapters, err)
	}
	goFiles := inChapters(t, tree, "*.go")
	for _, goMod := range chapters {
		chapter := path.Dir(goMod)
		readme := readFile(t, tree, chapter+"/README.md")
		lines := 0
		for _, paragraph := range strings.Split(strings.TrimSpace(readme), "\n\n") {
			if !strings.HasPrefix(paragraph, "|") && !strings.HasPrefix(paragraph, "Pages: ") {
				lines += 1 + strings.Count(paragraph, "\n")
			}
		}
		if lines > maxProse {
			t.Errorf("%s/README.md has %d lines of prose, want at most %d", chapter, lines, maxProse)
		}
		var imported []string
		for _, name := range goFiles {
			if strings.HasPrefix(name, chapter+"/") && !strings.HasSuffix(name, "_test.go") {
				imported = append(imported, matches(chapterImport, readFile(t, tree, name))...)
			}
		}
		got, want := others(matches(chapterNumber, readme), chapter), others(imported, chapter)
		if !slices.Equal(got, want) {
			t.Errorf("the comments of the programs of %s name the chapters %q; the code imports packages of %q",
				chapter, got, want)
		}
	}
}

// matches returns the first group of all matches in a text.
func matches(pattern *regexp.Regexp, text string) (all []string) {
	for _, match := range pattern.FindAllStringSubmatch(text, -1) {
		all = append(all, match[1])
	}
	return all
}

// others returns the numbers of other chapters, each once and sorted.
func others(numbers []string, chapter string) []string {
	slices.Sort(numbers)
	return slices.DeleteFunc(slices.Compact(numbers), func(n string) bool { return strings.HasPrefix(chapter, n+"-") })
}
