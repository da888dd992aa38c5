// Package book keeps the pages of the workspace true: it embeds code and
// output from their sources, and checks blocks, links, claims and headings.
package book

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
)

// Problem is one thing that is wrong with a page. Line counts from 1; it is 0
// when the page as a whole is meant.
type Problem struct {
	Page string
	Line int
	Text string
}

// String gives the problem as one line, page:line first.
func (p Problem) String() string {
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
// error here: Problems tells.
func Load(ws fs.FS) (*Book, error) {
	names, err := fs.Glob(ws, "docs/*.md")
	if err != nil {
		return nil, fmt.Errorf("looking for pages: %w", err)
	}
	b := &Book{ws: ws}
	for _, name := range append([]string{"README.md"}, names...) {
		text, err := fs.ReadFile(ws, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reading the page %s: %w", name, err)
		}
		b.pages = append(b.pages, parsePage(name, string(text)))
	}
	return b, nil
}

// Problems finds everything that is wrong with the book, sorted by page and line.
func (b *Book) Problems() []Problem {
	var all []Problem
	for _, p := range b.pages {
		_, stale, broken := b.render(p)
		all = slices.Concat(all, stale, broken, b.checkLinks(p))
	}
	all = append(all, b.checkShape()...)
	slices.SortStableFunc(all, func(x, y Problem) int {
		return cmp.Or(cmp.Compare(x.Page, y.Page), cmp.Compare(x.Line, y.Line))
	})
	return all
}

// page returns the page of that name, or nil.
func (b *Book) page(name string) *page {
	for _, p := range b.pages {
		if p.name == path.Clean(name) {
			return p
		}
	}
	return nil
}
