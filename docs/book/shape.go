// The shape of the book: the pages that must exist, their headings, and the order of "Next:".

package book

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// headings are the headings of every chapter page, in this order. Headings below ## are free.
var headings = []string{
	titleHeading,
	"## Run it",
	"## The idea",
	"## The code",
	"## How client-go does it today",
	"## Where people trip",
	"## Summary",
	"## Try it yourself",
}

// titleHeading stands for the title of a page, whatever its text is.
const titleHeading = "# Name of the chapter"

var (
	// opening matches the begin of a chapter page.
	opening = regexp.MustCompile(`(?s)^# [^\n]+\n.*\*\*What you build\.\*\*.*` +
		`\*\*Why it exists\.\*\*.*\*\*What client-go calls it\.\*\*.*\n## Run it\n\n.*?` + "```sh\n")

	// ending matches the summary of a chapter page: five lines, and a command to check with.
	ending = regexp.MustCompile(`\n## Summary\n\n(- .*\n(  .*\n)*){5}\n[^#]*` +
		"```sh\n(.+\n)+```\n\n## Try it yourself\n")

	// next matches the last paragraph of a page, with a link to the next page.
	next = regexp.MustCompile(`\nNext: [^\n]*?\]\(<?([^)#>]+)[^\n]*(\n[^\n]+)*\n$`)
)

// maxBlockLines is the greatest length of a block of code.
const maxBlockLines = 100

// contentsPage is the page that links to all others.
const contentsPage = "docs/README.md"

// checkShape compares the chapters, the pages and the contents page with each other.
func (b *Book) checkShape() []Problem {
	found := slices.Concat(b.checkContents(), b.checkNext())
	chapters, _ := fs.Glob(b.ws, "[0-9][0-9]-*") // its only error is a malformed pattern
	for _, chapter := range chapters {
		if info, err := fs.Stat(b.ws, chapter); err == nil && info.IsDir() {
			found = append(found, b.checkChapter(chapter)...)
		}
	}
	return found
}

// pageProblem returns a problem of a whole page.
func pageProblem(page, format string, args ...any) Problem {
	return Problem{Page: page, Text: fmt.Sprintf(format, args...)}
}

// checkContents finds pages that are missing, and pages that the contents page does not link to.
func (b *Book) checkContents() (found []Problem) {
	for _, name := range []string{"README.md", contentsPage} {
		if b.pages[name] == nil {
			found = append(found, pageProblem(name, "this page is missing"))
		}
	}
	contents := b.pages[contentsPage]
	if contents == nil {
		return found
	}
	for name := range b.pages {
		if name != "README.md" && name != contentsPage && !contents.linksTo(name) {
			found = append(found, pageProblem(contentsPage, "the contents page does not link to %s", path.Base(name)))
		}
	}
	return found
}

// checkChapter checks all pages of a chapter. The pages of chapter 01-one are 01-one.md, and all
// others whose names begin with 01-.
func (b *Book) checkChapter(chapter string) (found []Problem) {
	first := "docs/" + chapter + ".md"
	if b.pages[first] == nil {
		return []Problem{pageProblem(first, "the page of chapter %s is missing", chapter)}
	}
	shown := map[string]bool{} // the verbs and files of all directives of the chapter
	for name, p := range b.pages {
		if !strings.HasPrefix(name, "docs/"+chapter[:3]) {
			continue
		}
		found = append(found, p.checkSections()...)
		found = append(found, p.checkBlockLengths()...)
		for _, d := range p.directives {
			shown[d.verb+" "+d.file] = true
		}
	}
	for _, file := range b.filesToShow(chapter) {
		verb := "code"
		if path.Ext(file) == ".txt" {
			verb = "output"
		}
		if !shown[verb+" "+file] {
			found = append(found, pageProblem(first,
				"no page of the chapter shows %s: add <!-- %s %[1]s --> and run `go run ./docs`", file, verb))
		}
	}
	return found
}

// checkSections checks the headings, the begin and the summary of a chapter page. It returns one
// problem at most: the others mostly follow from the first.
func (p *page) checkSections() []Problem {
	switch {
	case !slices.Equal(p.headings, headings):
		return []Problem{pageProblem(p.name, "the headings are %q; every chapter page has %q", p.headings, headings)}
	case !opening.Match(p.source):
		return []Problem{pageProblem(p.name, "before ## Run it, say **What you build.**, **Why it exists.** and "+
			"**What client-go calls it.**; below it is a block of sh first")}
	case !ending.Match(p.source):
		return []Problem{pageProblem(p.name, "## Summary is a list of five lines, and a block of sh to check with")}
	}
	return nil
}

// checkBlockLengths finds blocks of code that are too long.
func (p *page) checkBlockLengths() (found []Problem) {
	for _, d := range p.directives {
		const fences = 2
		if lines := d.end - d.start - fences; d.verb == "code" && lines > maxBlockLines {
			found = append(found, p.problem(d.line, "a block of %d lines: show at most %d at a time, "+
				"each with the question that it answers", lines, maxBlockLines))
		}
	}
	return found
}

// filesToShow returns the files that the pages of a chapter have to show: the steps of its
// programs, and their expected output. It finds programs at any depth.
func (b *Book) filesToShow(chapter string) (files []string) {
	_ = fs.WalkDir(b.ws, chapter, func(file string, _ fs.DirEntry, err error) error {
		isStep, _ := path.Match("step_*.go", path.Base(file)) // its only error is a malformed pattern
		isOutput := path.Base(path.Dir(file)) == "testdata" && path.Ext(file) == ".txt"
		if isStep || isOutput {
			files = append(files, file)
		}
		return err
	})
	return files
}

// checkNext compares the "Next:" of each page with the order of the contents page. There, the first
// link to a page counts.
func (b *Book) checkNext() (found []Problem) {
	contents := b.pages[contentsPage]
	if contents == nil {
		return nil
	}
	var order []string
	seen := map[string]bool{"README.md": true, contentsPage: true}
	for _, l := range contents.links {
		target, _, _ := strings.Cut(l.target, "#")
		name := path.Join("docs", target)
		if b.pages[name] != nil && !seen[name] {
			seen[name] = true
			order = append(order, name)
		}
	}
	for i, name := range order {
		want := ""
		if i+1 < len(order) {
			want = path.Base(order[i+1])
		}
		got := ""
		if match := next.FindSubmatch(b.pages[name].source); match != nil {
			got = string(match[1])
		}
		if got != want {
			found = append(found, pageProblem(name,
				"the last paragraph is Next: %q; in the contents, %q is next", got, want))
		}
	}
	return found
}
