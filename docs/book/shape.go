// The shape of the book: the pages that must exist, how they are linked, and what they have to
// show.

package book

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

const (
	// contentsPage is the page that links to all others.
	contentsPage = "docs/README.md"

	// referenceHeading is the heading on the contents page above the pages in which a reader looks
	// things up.
	referenceHeading = "Reference"
)

// next matches the last paragraph of a page, with a link to the next page.
var next = regexp.MustCompile(`\nNext: [^\n]*?\]\(<?([^)#>]+)[^\n]*(\n[^\n]+)*\n$`)

// checkShape compares the chapters, the pages and the contents page with each other.
func (b *Book) checkShape() []Problem {
	found := slices.Concat(b.checkContents(), b.checkNext())
	shown := map[string]bool{} // the verbs and files of all directives
	for _, p := range b.pages {
		for _, d := range p.directives {
			shown[d.verb+" "+d.file] = true
		}
	}
	for _, chapter := range b.chapters() {
		found = append(found, b.checkChapter(chapter, shown)...)
	}
	return found
}

// chapters returns the folders of the chapters.
func (b *Book) chapters() (folders []string) {
	names, _ := fs.Glob(b.ws, "[0-9][0-9]-*") // its only error is a malformed pattern
	for _, name := range names {
		if info, err := fs.Stat(b.ws, name); err == nil && info.IsDir() {
			folders = append(folders, name)
		}
	}
	return folders
}

// pageProblem returns a problem of a whole page.
func pageProblem(page, format string, args ...any) Problem {
	return Problem{Page: page, Text: fmt.Sprintf(format, args...)}
}

// checkContents finds pages that are missing, and pages to which their front page does not link.
func (b *Book) checkContents() (found []Problem) {
	for _, name := range []string{"README.md", contentsPage} {
		if b.pages[name] == nil {
			found = append(found, pageProblem(name, "this page is missing"))
		}
	}
	for name := range b.pages {
		front := b.frontPage(name)
		if name != "README.md" && name != contentsPage && b.pages[front] != nil && !b.pages[front].linksTo(name) {
			found = append(found, pageProblem(front, "this page does not link to %s", name))
		}
	}
	return found
}

// frontPage returns the page that has to link to a page. For a page in a folder, that is the page
// beside the folder with the same name, if there is one. For all others it is the contents page.
func (b *Book) frontPage(name string) string {
	if front := path.Dir(name) + ".md"; b.pages[front] != nil {
		return front
	}
	return contentsPage
}

// checkNext compares the "Next:" of each page with the order of the contents page.
func (b *Book) checkNext() (found []Problem) {
	chain := b.Chain()
	for name, p := range b.pages {
		if name == "README.md" || name == contentsPage {
			continue
		}
		want := ""
		if i := slices.Index(chain, name); i >= 0 && i+1 < len(chain) {
			want = path.Base(chain[i+1])
		}
		got := ""
		if match := next.FindSubmatch(p.source); match != nil {
			got = string(match[1])
		}
		if got != want {
			found = append(found, pageProblem(name,
				"the last paragraph is Next: %q; in the contents, %q is next", got, want))
		}
	}
	return found
}

// Chain returns the pages that a reader reads one after the other: those to which the contents page
// links above its heading Reference. The first link to a page counts. Pages in folders are not in
// the chain.
func (b *Book) Chain() (order []string) {
	contents := b.pages[contentsPage]
	if contents == nil {
		return nil
	}
	end := len(contents.lines)
	for _, h := range contents.headings {
		if h.text == referenceHeading {
			end = h.line
		}
	}
	for _, l := range contents.links {
		target, _, _ := strings.Cut(l.target, "#")
		name := path.Join("docs", target)
		inBook := b.pages[name] != nil && name != contentsPage && path.Dir(name) == "docs"
		if inBook && l.line < end && !slices.Contains(order, name) {
			order = append(order, name)
		}
	}
	return order
}

// checkChapter checks that a chapter has a page, and that the book shows all its steps.
func (b *Book) checkChapter(chapter string, shown map[string]bool) (found []Problem) {
	if first := "docs/" + chapter + ".md"; b.pages[first] == nil {
		found = append(found, pageProblem(first, "the page of chapter %s is missing", chapter))
	}
	for _, file := range b.filesToShow(chapter) {
		verb := "code"
		if path.Ext(file) == ".txt" {
			verb = "output"
		}
		if !shown[verb+" "+file] {
			found = append(found, pageProblem(file,
				"no page shows it: add <!-- %s %s --> to one, and run `go run ./docs`", verb, file))
		}
	}
	return found
}

// filesToShow returns the files of a chapter that the book has to show: the steps of its programs,
// and their expected output. It finds programs at any depth.
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
