// What the pages of the book say about the exercises: their order, and where their code is
// explained.

package main

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// inBooksOrder sorts the exercises: by chapter, and then as the list of all exercises has them.
func inBooksOrder(root string, all []exercise) {
	list, _ := os.ReadFile(filepath.Join(root, "docs", "practice.md")) // without it, by their names
	place := func(e exercise) int { return strings.Index(string(list), e.link()) }
	slices.SortStableFunc(all, func(a, b exercise) int {
		return cmp.Or(strings.Compare(a.chapter, b.chapter), cmp.Compare(place(a), place(b)))
	})
}

// link returns the target of a link to the exercise, as a page has it.
func (e exercise) link() string { return "(../" + e.chapter + "/practice/" + e.name + ".md)" }

// explanation returns page:line of the section that shows the function that the start of the exercise
// changes. If there is none, it returns the section that leads to the exercise, or "".
func (e exercise) explanation(root, book string) (place string) {
	started, err := e.begin(book)
	if err != nil {
		return ""
	}
	var names []string
	for _, f := range findFunctions(book) {
		if !strings.Contains(started, book[f.begin:f.end]) {
			names = append(names, f.name)
		}
	}
	found, _ := fs.Glob(os.DirFS(root), "docs/"+e.chapter[:2]+"-*.md") // the pattern is valid
	for _, page := range found {
		text, _ := os.ReadFile(filepath.Join(root, page))
		section := 1
		for i, line := range strings.Split(string(text), "\n") {
			if strings.HasPrefix(line, "##") {
				section = i + 1
			}
			here := fmt.Sprintf("%s:%d", page, section)
			directive, ok := strings.CutPrefix(line, "<!-- code "+e.file+" ")
			shown := strings.Fields(strings.ReplaceAll(directive, ",", " ")) // such as "f g, folded"
			isChanged := func(name string) bool { return slices.Contains(names, name) }
			if ok && slices.ContainsFunc(shown, isChanged) {
				return here
			}
			if place == "" && strings.Contains(line, e.link()) {
				place = here
			}
		}
	}
	return place
}
