// What the pages of the book say about the exercises: their order, and where their code is
// explained.

package main

import (
	"cmp"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var (
	nextPage     = regexp.MustCompile(`(?m)^Next: \[[^]]*\]\(([\w-]+\.md)\)`)
	exerciseLink = regexp.MustCompile(`\(\.\./[\w-]+/practice/([\w-]+)\.md\)`)
)

// inBooksOrder sets the pages of the exercises, and sorts them: by chapter, and then in the order
// in which the pages link to them.
func inBooksOrder(root string, all []exercise) []exercise {
	if len(all) == 0 {
		return nil
	}
	rank, page := map[string]int{}, map[string]string{}
	for _, name := range pages(root, all[0].chapter+".md") {
		text, _ := os.ReadFile(filepath.Join(root, name))
		section := 1
		for i, line := range strings.Split(string(text), "\n") {
			if strings.HasPrefix(line, "##") {
				section = i + 1
			}
			for _, match := range exerciseLink.FindAllStringSubmatch(line, -1) {
				if _, known := rank[match[1]]; !known {
					rank[match[1]], page[match[1]] = len(rank), fmt.Sprintf("%s:%d", name, section)
				}
			}
		}
	}
	for i := range all {
		all[i].page = page[all[i].name]
		if all[i].page == "" {
			rank[all[i].name] = math.MaxInt // no page leads to it yet
		}
	}
	slices.SortStableFunc(all, func(a, b exercise) int {
		return cmp.Or(strings.Compare(a.chapter, b.chapter), cmp.Compare(rank[a.name], rank[b.name]))
	})
	return all
}

// pages returns the pages of the book from this one on, each with its path from the root. Each page
// leads to the next one.
func pages(root, page string) (all []string) {
	for page != "" {
		name := "docs/" + page
		if slices.Contains(all, name) {
			break
		}
		all = append(all, name)
		text, _ := os.ReadFile(filepath.Join(root, name)) // a page that is not there ends the chain
		page = ""
		if match := nextPage.FindStringSubmatch(string(text)); match != nil {
			page = match[1]
		}
	}
	return all
}

// explanation returns page:line of the section that shows the function that the start of the exercise
// changes. If there is none, it returns the section that leads to the exercise, or "".
func (e exercise) explanation(root, book string) string {
	started, err := e.begin(book)
	found, _ := fs.Glob(os.DirFS(root), "docs/"+e.chapter[:2]+"-*.md") // the pattern is valid
	if err != nil {
		return e.page
	}
	var names []string
	for _, f := range findFunctions(book) {
		if !strings.Contains(started, book[f.begin:f.end]) {
			names = append(names, f.name)
		}
	}
	for _, page := range found {
		text, _ := os.ReadFile(filepath.Join(root, page))
		section := 0
		for i, line := range strings.Split(string(text), "\n") {
			if strings.HasPrefix(line, "##") {
				section = i + 1
			}
			directive, ok := strings.CutPrefix(line, "<!-- code "+e.file+" ")
			shown := strings.Fields(strings.ReplaceAll(directive, ",", " ")) // such as "f g, folded"
			isChanged := func(name string) bool { return slices.Contains(names, name) }
			if ok && slices.ContainsFunc(shown, isChanged) {
				return fmt.Sprintf("%s:%d", page, section)
			}
		}
	}
	return e.page
}
