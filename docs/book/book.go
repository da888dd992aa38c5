// Package book keeps the pages of the workspace true: it embeds code and
// output from their sources, and checks blocks, links, claims and headings.
package book

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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
	pages []*page
}

// Load reads the pages of the workspace ws. A page that is missing is not an
// error here: Problems reports it.
func Load(ws fs.FS) (*Book, error) {
	b := &Book{ws: ws}
	for _, pattern := range []string{"README.md", "docs/*.md"} {
		names, _ := fs.Glob(ws, pattern) // its only error is a malformed pattern
		for _, name := range names {
			text, err := fs.ReadFile(ws, name)
			if err != nil {
				return nil, fmt.Errorf("reading the page %s: %w", name, err)
			}
			b.pages = append(b.pages, parsePage(name, text))
		}
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
	slices.SortStableFunc(all, func(x, y Problem) int {
		return cmp.Or(cmp.Compare(x.Page, y.Page), cmp.Compare(x.Line, y.Line))
	})
	return all
}

// Rewrite brings the embedded blocks of all pages below root in step and
// returns the pages it changed, and the problems that are left for a person. A
// page with a broken directive or a block that nobody owns is left as it is.
func Rewrite(root string) (changed []string, left []Problem, err error) {
	b, err := Load(os.DirFS(root))
	if err != nil {
		return nil, nil, err
	}
	for _, p := range b.pages {
		text, stale, _ := b.render(p)
		if len(stale) == 0 {
			continue
		}
		if err := os.WriteFile(filepath.Join(root, p.name), []byte(text), 0o644); err != nil {
			return changed, nil, fmt.Errorf("rewriting a page: %w", err)
		}
		changed = append(changed, p.name)
	}
	if b, err = Load(os.DirFS(root)); err != nil {
		return changed, nil, err
	}
	return changed, b.Problems(), nil
}

// page returns the page of that name, or nil.
func (b *Book) page(name string) *page {
	if i := slices.IndexFunc(b.pages, func(p *page) bool { return p.name == name }); i >= 0 {
		return b.pages[i]
	}
	return nil
}
