package main

import (
	"io/fs"
	"path"
	"strings"
	"testing"
)

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
