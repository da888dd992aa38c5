// The shape of the book: a page for every chapter, all of the same build.

package book

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// sections are the headings of every chapter page, in this order.
var sections = []string{
	"What you will see",
	"The idea",
	"The code",
	"Run it",
	"How client-go does it today",
	"Where people trip",
	"Try it yourself",
}

const contents = "docs/README.md"

var chapterName = regexp.MustCompile(`^\d\d-[a-z0-9-]+$`)

// checkShape holds chapters, pages and the contents page against each other.
func (b *Book) checkShape() []Problem {
	found := b.checkContents()
	if b.page("README.md") == nil {
		found = append(found, Problem{Page: "README.md", Text: "the front page is missing"})
	}
	chapters, err := b.chapters()
	if err != nil {
		return append(found, Problem{Page: contents, Text: fmt.Sprintf("looking for chapters: %v", err)})
	}
	for _, chapter := range chapters {
		found = append(found, b.checkChapter(chapter)...)
	}
	return append(found, b.checkOrphans(chapters)...)
}

// chapters returns the folders NN-name of the workspace.
func (b *Book) chapters() ([]string, error) {
	entries, err := fs.ReadDir(b.ws, ".")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() && chapterName.MatchString(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

func pageOf(chapter string) string { return "docs/" + chapter + ".md" }

func (b *Book) checkChapter(chapter string) []Problem {
	p := b.page(pageOf(chapter))
	if p == nil {
		return []Problem{{Page: pageOf(chapter), Text: fmt.Sprintf("the page of chapter %s is missing", chapter)}}
	}
	return append(p.checkHeadings(), b.checkOutputs(chapter, p)...)
}

// checkHeadings wants one title, then the sections, whole and in order.
func (p *page) checkHeadings() []Problem {
	next := 0 // sections seen so far
	titles := 0
	for _, h := range p.headings() {
		switch {
		case h.level == 1 && (titles > 0 || next > 0):
			return []Problem{p.problem(h.line, "a page has one title, in front: make # %s a section's ###", h.text)}
		case h.level == 1:
			titles++
		case h.level > 2:
		case next == len(sections):
			return []Problem{p.problem(h.line, "## %s is one section too many: %q is the last (### is free)", h.text, sections[next-1])}
		case h.text != sections[next]:
			return []Problem{p.problem(h.line, "here comes ## %s, not ## %s: every page has the sections %s", sections[next], h.text, strings.Join(sections, ", "))}
		default:
			next++
		}
	}
	var found []Problem
	if titles == 0 {
		found = append(found, Problem{Page: p.name, Text: "the title is missing: start with # Name"})
	}
	if next < len(sections) {
		found = append(found, Problem{Page: p.name, Text: "the section ## " + sections[next] + " is missing"})
	}
	return found
}

// checkOutputs wants the expected output of every step on the chapter's page.
func (b *Book) checkOutputs(chapter string, p *page) []Problem {
	files, err := fs.Glob(b.ws, chapter+"/testdata/*.txt")
	if err != nil {
		return []Problem{{Page: p.name, Text: fmt.Sprintf("looking for outputs of %s: %v", chapter, err)}}
	}
	var found []Problem
	for _, file := range files {
		if !slices.ContainsFunc(p.directives, func(d directive) bool { return d.verb == "output" && d.file == file }) {
			found = append(found, Problem{Page: p.name, Text: fmt.Sprintf("the page does not show %s: add <!-- output %s --> and run `go run ./docs`", file, file)})
		}
	}
	return found
}

// checkOrphans finds pages of chapters that are not there.
func (b *Book) checkOrphans(chapters []string) []Problem {
	var found []Problem
	for _, p := range b.pages {
		name := strings.TrimSuffix(path.Base(p.name), ".md")
		if chapterName.MatchString(name) && !slices.Contains(chapters, name) {
			found = append(found, Problem{Page: p.name, Text: fmt.Sprintf("there is no chapter %s for this page", name)})
		}
	}
	return found
}

// checkContents wants a link to every page from the contents page.
func (b *Book) checkContents() []Problem {
	p := b.page(contents)
	if p == nil {
		return []Problem{{Page: contents, Text: "the contents page is missing"}}
	}
	linked := map[string]bool{contents: true, "README.md": true}
	links, _ := p.links()
	for _, l := range links {
		target, _, _ := strings.Cut(l.target, "#")
		linked[path.Join("docs", target)] = true
	}
	var found []Problem
	for _, other := range b.pages {
		if !linked[other.name] {
			found = append(found, Problem{Page: contents, Text: fmt.Sprintf("the contents page does not link to %s", path.Base(other.name))})
		}
	}
	return found
}
