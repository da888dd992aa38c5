// The shape of the book: a page for every chapter, or more, all of the same
// build.

package book

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// headings are those of every chapter page, in this order. Below ## they are free.
var headings = []string{
	"# Name of the chapter",
	"## What you will see",
	"## The idea",
	"## The code",
	"## Run it",
	"## How client-go does it today",
	"## Where people trip",
	"## Try it yourself",
}

// checkShape holds chapters, pages and the contents page against each other.
func (b *Book) checkShape() []Problem {
	found := b.checkContents()
	if b.page("README.md") == nil {
		found = append(found, Problem{Page: "README.md", Text: "the front page is missing"})
	}
	var chapters []string
	inside, _ := fs.Glob(b.ws, "[0-9][0-9]-*/*")
	for _, name := range inside {
		chapters = append(chapters, path.Dir(name))
	}
	for _, chapter := range slices.Compact(chapters) {
		name := "docs/" + chapter + ".md"
		if b.page(name) == nil {
			found = append(found, Problem{Page: name, Text: fmt.Sprintf("the page of chapter %s is missing", chapter)})
			continue
		}
		pages := b.pagesOf(chapter)
		for _, p := range pages {
			found = append(found, p.checkHeadings()...)
		}
		found = append(found, b.checkOutputs(chapter, pages)...)
	}
	return found
}

// pagesOf returns the page of a chapter, and then further ones: those of
// 01-one are called 01-one-something.md.
func (b *Book) pagesOf(chapter string) []*page {
	pages := []*page{b.page("docs/" + chapter + ".md")}
	for _, p := range b.pages {
		if strings.HasPrefix(p.name, "docs/"+chapter+"-") {
			pages = append(pages, p)
		}
	}
	return pages
}

// checkContents wants a link to every page from the contents page.
func (b *Book) checkContents() []Problem {
	p := b.page("docs/README.md")
	if p == nil {
		return []Problem{{Page: "docs/README.md", Text: "the contents page is missing"}}
	}
	linked := map[string]bool{p.name: true, "README.md": true}
	for _, l := range p.links {
		target, _, _ := strings.Cut(l.target, "#")
		linked[path.Join("docs", target)] = true
	}
	var found []Problem
	for _, other := range b.pages {
		if !linked[other.name] {
			text := "the contents page does not link to " + path.Base(other.name)
			found = append(found, Problem{Page: p.name, Text: text})
		}
	}
	return found
}

// checkHeadings wants all of the headings, in order.
func (p *page) checkHeadings() []Problem {
	left := headings
	for _, h := range p.headings {
		here := strings.Repeat("#", h.level) + " " + h.text
		switch {
		case h.level > 2:
		case len(left) == 0:
			return []Problem{p.problem(h.line, "%s is one heading too many: make it ### (which is free)", here)}
		case here == left[0], h.level == 1 && len(left) == len(headings): // any name will do
			left = left[1:]
		default:
			return []Problem{p.problem(h.line, "here comes %s, not %s: every chapter page has %s",
				left[0], here, strings.Join(headings, ", "))}
		}
	}
	if len(left) > 0 {
		return []Problem{{Page: p.name, Text: left[0] + " is missing"}}
	}
	return nil
}

// checkOutputs wants the expected output of every step on a page of the
// chapter.
func (b *Book) checkOutputs(chapter string, pages []*page) []Problem {
	files, _ := fs.Glob(b.ws, chapter+"/testdata/*.txt")
	var found []Problem
	for _, file := range files {
		shows := func(d *directive) bool { return d.verb == "output" && d.file == file }
		onPage := func(p *page) bool { return slices.ContainsFunc(p.directives, shows) }
		if !slices.ContainsFunc(pages, onPage) {
			text := fmt.Sprintf("the page does not show %s: add <!-- output %s --> and run `go run ./docs`", file, file)
			found = append(found, Problem{Page: pages[0].name, Text: text})
		}
	}
	return found
}
