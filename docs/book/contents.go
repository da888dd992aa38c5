// The contents of the book.

package book

import (
	"path"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"

	"example.com/informer/scripts/harness/markdown"
)

// A Part is a part of the contents.
type Part struct {
	Title   string // "" for the pages before the first part
	Entries []Entry
}

// An Entry is a page in the contents.
type Entry struct {
	Title, Page string
	Number      int // of a chapter; 0 for a page without a number
	Level       int // 0 for a chapter, and 1 for a page that belongs to the one above it
}

// Contents returns the contents of the book, as the contents page has them: each list of links is a
// part, whose title is above it. Below a page with a folder, such as docs/field-guide.md, are the
// pages of this folder.
func (b *Book) Contents() (parts []Part) {
	contents := b.pages[contentsPage]
	if contents == nil {
		return nil
	}
	title := ""
	for n := markdown.Parse(contents.source).FirstChild(); n != nil; n = n.NextSibling() {
		var entries []Entry
		switch n := n.(type) {
		case *ast.Heading:
			title = contents.plainText(n)
		case *ast.Paragraph:
			if strong, ok := n.FirstChild().(*ast.Emphasis); ok {
				title = strings.TrimSuffix(contents.plainText(strong), ".")
			} else if text, ok := strings.CutSuffix(contents.plainText(n), ":"); ok {
				title = text
			} else {
				entries = b.entryOf(contents, n, 0)
				for i, e := range entries { // the link is in the middle of a sentence
					entries[i].Title = strings.ToUpper(e.Title[:1]) + e.Title[1:]
				}
			}
		case *ast.List:
			entries = b.entriesOf(contents, n, 0)
		}
		if len(entries) > 0 {
			parts = append(parts, Part{Title: title, Entries: entries})
		}
	}
	if len(parts) > 0 && parts[0].Title == b.Title(contentsPage) {
		parts[0].Title = ""
	}
	return parts
}

// entriesOf returns the pages to which a list links: the first link of each item.
func (b *Book) entriesOf(p *page, list *ast.List, level int) (entries []Entry) {
	number := list.Start
	for item := list.FirstChild(); item != nil; item = item.NextSibling() {
		for n := item.FirstChild(); n != nil; n = n.NextSibling() {
			below, isList := n.(*ast.List)
			if isList {
				entries = append(entries, b.entriesOf(p, below, level+1)...)
				continue
			}
			found := b.entryOf(p, n, level)
			for i := range found {
				if list.IsOrdered() {
					found[i].Number = number
				}
				found = append(found, b.folderOf(found[i])...)
			}
			entries = append(entries, found...)
		}
		number++
	}
	return entries
}

// entryOf returns the page to which the first link of a node leads, or nothing.
func (b *Book) entryOf(p *page, n ast.Node, level int) (entries []Entry) {
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		link, ok := n.(*ast.Link)
		if !ok || !entering {
			return ast.WalkContinue, nil
		}
		name := path.Join(path.Dir(p.name), string(link.Destination))
		if b.pages[name] != nil {
			entries = []Entry{{Title: p.plainText(link), Page: name, Level: level}}
		}
		return ast.WalkStop, nil
	})
	return entries
}

// folderOf returns the pages in the folder of a page, in the order of its links.
func (b *Book) folderOf(front Entry) (entries []Entry) {
	p := b.pages[front.Page]
	for _, l := range p.links {
		target, _, _ := strings.Cut(l.target, "#")
		name := path.Join(path.Dir(p.name), target)
		known := slices.ContainsFunc(entries, func(e Entry) bool { return e.Page == name })
		if b.pages[name] == nil || path.Dir(name)+".md" != front.Page || known {
			continue
		}
		entries = append(entries, Entry{Title: b.Title(name), Page: name, Level: front.Level + 1})
	}
	return entries
}

// Title returns the heading of a page, or its name if it has none.
func (b *Book) Title(name string) string {
	if p, err := b.page(name); err == nil && len(p.headings) > 0 {
		return p.headings[0].text
	}
	return name
}

// Heading returns the heading of a page to which an anchor leads.
func (b *Book) Heading(name, anchor string) (text string, ok bool) {
	p, err := b.page(name)
	if err != nil {
		return "", false
	}
	i := slices.IndexFunc(p.headings, func(h heading) bool { return h.anchor == anchor })
	if i < 0 {
		return "", false
	}
	return p.headings[i].text, true
}
