// Package book keeps the pages of the workspace true: it embeds code and
// output from their sources, and checks blocks, links, claims and headings.
package book

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Problem is one thing that is wrong with a page. Line counts from 1; it is 0
// when the page as a whole is meant.
type Problem struct {
	Page string
	Line int
	Text string
}

// Error gives the problem as one line, page:line first.
func (p Problem) Error() string {
	if p.Line == 0 {
		return fmt.Sprintf("%s: %s", p.Page, p.Text)
	}
	return fmt.Sprintf("%s:%d: %s", p.Page, p.Line, p.Text)
}

// Book is README.md and docs/*.md of a workspace, as they were when loaded.
type Book struct {
	ws    fs.FS // the workspace root; everything is read through it
	pages map[string]*page

	// What links lead to is parsed once, because hundreds of links lead to the same file.
	linked map[string]*page // Markdown files of the workspace, by name
	tests  map[string]testFile
}

// Load reads the pages of the workspace ws. A page that is missing is not an
// error here: Problems reports it.
func Load(ws fs.FS) (*Book, error) {
	b := &Book{ws: ws, pages: map[string]*page{}, linked: map[string]*page{}, tests: map[string]testFile{}}
	front, _ := fs.Glob(ws, "README.md") // its only error is a malformed pattern
	others, _ := fs.Glob(ws, "docs/*.md")
	for _, name := range append(front, others...) {
		text, err := fs.ReadFile(ws, name)
		if err != nil {
			return nil, fmt.Errorf("reading the page %s: %w", name, err)
		}
		b.pages[name] = parsePage(name, text)
	}
	return b, nil
}

// Problems finds everything that is wrong with the book, sorted by page and line.
func (b *Book) Problems() []Problem {
	all := b.checkShape()
	for _, p := range b.pages {
		_, stale, broken := b.render(p)
		all = slices.Concat(all, stale, broken)
		for _, l := range p.links {
			if err := b.checkLink(p, l); err != nil {
				all = append(all, p.problem(l.line, "%v", err))
			}
		}
	}
	slices.SortFunc(all, func(x, y Problem) int {
		return cmp.Or(cmp.Compare(x.Page, y.Page), cmp.Compare(x.Line, y.Line), cmp.Compare(x.Text, y.Text))
	})
	return all
}

// Rewrite brings the embedded blocks of all pages below root in step and says
// which pages it changed. A page with a broken directive or a block that nobody owns
// is left as it is. Its error says, in a line each, what is left for a person.
func Rewrite(root string, stdout io.Writer) error {
	b, err := Load(os.DirFS(root))
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(b.pages)) {
		text, stale, _ := b.render(b.pages[name])
		if len(stale) == 0 {
			continue
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			return fmt.Errorf("rewriting a page: %w", err)
		}
		fmt.Fprintln(stdout, "rewritten:", name)
		b.pages[name] = parsePage(name, []byte(text))
	}
	for _, problem := range b.Problems() {
		err = errors.Join(err, problem)
	}
	return err
}

// headings are those of every chapter page, in this order. Below ## they are free.
var headings = []string{
	"# Name of the chapter",
	"## Run it",
	"## The idea",
	"## The code",
	"## How client-go does it today",
	"## Where people trip",
	"## Summary",
	"## Try it yourself",
}

// opening is how a chapter page begins; ending is how it ends: five lines, and a command to
// check with.
var (
	opening = regexp.MustCompile(`(?s)^# [^\n]+\n.*\*\*What you build\.\*\*.*` +
		`\*\*Why it exists\.\*\*.*\*\*What client-go calls it\.\*\*.*\n## Run it\n\n.*?` + "```sh\n")
	ending = regexp.MustCompile(`\n## Summary\n\n(- .*\n(  .*\n)*){5}\n[^#]*` +
		"```sh\n(.+\n)+```\n\n## Try it yourself\n")
	next = regexp.MustCompile(`\nNext: [^\n]*?\]\(<?([^)#>]+)[^\n]*(\n[^\n]+)*\n$`)
)

// most is how many lines a block of code has at most.
const most = 100

// checkShape holds chapters, pages and the contents page against each other. The
// pages of chapter 01-one are 01-one.md, and others whose names begin with 01-.
func (b *Book) checkShape() (found []Problem) {
	complain := func(page, format string, args ...any) {
		found = append(found, Problem{Page: page, Text: fmt.Sprintf(format, args...)})
	}
	for _, name := range []string{"README.md", "docs/README.md"} {
		if b.pages[name] == nil {
			complain(name, "this page is missing")
		}
	}
	for name := range b.pages {
		if contents := b.pages["docs/README.md"]; contents != nil && !contents.linksTo(name) {
			complain(contents.name, "the contents page does not link to %s", path.Base(name))
		}
	}
	chapters, _ := fs.Glob(b.ws, "[0-9][0-9]-*")
	for _, chapter := range chapters {
		if info, err := fs.Stat(b.ws, chapter); err != nil || !info.IsDir() {
			continue
		}
		first, shown := "docs/"+chapter+".md", map[string]bool{}
		if b.pages[first] == nil {
			complain(first, "the page of chapter %s is missing", chapter)
			continue
		}
		for name, p := range b.pages {
			if !strings.HasPrefix(name, "docs/"+chapter[:3]) {
				continue
			}
			switch {
			case !slices.Equal(p.headings, headings):
				complain(name, "the headings are %q; every chapter page has %q", p.headings, headings)
			case !opening.Match(p.source):
				complain(name, "before ## Run it, say **What you build.**, **Why it exists.** and "+
					"**What client-go calls it.**; below it is a block of sh first")
			case !ending.Match(p.source):
				complain(name, "## Summary is a list of five lines, and a block of sh to check with")
			}
			for _, d := range p.directives {
				shown[d.verb+" "+d.file] = true
				if d.verb == "code" && d.end-d.start > most+2 {
					found = append(found, p.problem(d.line, "a block of %d lines: show at most %d at a time, "+
						"each with the question that it answers", d.end-d.start-2, most))
				}
			}
		}
		for _, file := range b.shown(chapter) {
			verb := "code"
			if path.Ext(file) == ".txt" {
				verb = "output"
			}
			if !shown[verb+" "+file] {
				complain(first, "no page of the chapter shows %s: add <!-- %s %[1]s --> and run `go run ./docs`",
					file, verb)
			}
		}
	}
	return append(found, b.checkPath()...)
}

// checkPath follows "Next:" from page to page, in the order of the contents page, which
// names each page first where it belongs.
func (b *Book) checkPath() (found []Problem) {
	contents := b.pages["docs/README.md"]
	if contents == nil {
		return nil
	}
	var pages []string
	for _, l := range contents.links {
		target, _, _ := strings.Cut(l.target, "#")
		name := path.Join("docs", target)
		if p := b.pages[name]; p != nil && p != contents && path.Dir(name) == "docs" && !slices.Contains(pages, name) {
			pages = append(pages, name)
		}
	}
	for i, name := range pages {
		want, got := "", ""
		if i+1 < len(pages) {
			want = path.Base(pages[i+1])
		}
		if m := next.FindSubmatch(b.pages[name].source); m != nil {
			got = string(m[1])
		}
		if got != want {
			found = append(found, Problem{Page: name, Text: fmt.Sprintf(
				"the last paragraph is Next: %q; in the contents, %q is next", got, want)})
		}
	}
	return found
}

// shown are the files that the pages of a chapter have to show: its steps, and what they are
// expected to print; those of each program in it, however deep its folder is.
func (b *Book) shown(chapter string) (files []string) {
	_ = fs.WalkDir(b.ws, chapter, func(file string, _ fs.DirEntry, err error) error {
		step, _ := path.Match("step_*.go", path.Base(file))
		if step || path.Base(path.Dir(file)) == "testdata" && path.Ext(file) == ".txt" {
			files = append(files, file)
		}
		return err
	})
	return files
}
