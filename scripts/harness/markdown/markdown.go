// Package markdown reads a page of the book as GitHub does, and makes a web page of it.
package markdown

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
)

var reader = goldmark.New(
	goldmark.WithExtensions(extension.Linkify, extension.Strikethrough, extension.TaskList, extension.Footnote,
		extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute))), // not by a style
	goldmark.WithParserOptions(parser.WithAutoHeadingID()),
	goldmark.WithRendererOptions(html.WithUnsafe()), // the book's own <details>
)

// Parse takes a page apart.
func Parse(source []byte) ast.Node {
	ids := parser.WithIDs(Anchors{})
	return reader.Parser().Parse(text.NewReader(source), parser.WithContext(parser.NewContext(ids)))
}

// HTML is the inside of a web page. Of a link or a picture that leads to where
// follow says no, the text is left.
func HTML(source []byte, follow func(target string) bool) (string, error) {
	page := Parse(source)
	var left []ast.Node
	if err := ast.Walk(page, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if target, ok := targetOf(n); ok && entering && !follow(target) {
			left = append(left, n)
		}
		return ast.WalkContinue, nil
	}); err != nil {
		return "", err
	}
	for _, n := range left { // what is inside takes its place
		for c := n.FirstChild(); c != nil; c = n.FirstChild() {
			n.Parent().InsertBefore(n.Parent(), n, c)
		}
		n.Parent().RemoveChild(n.Parent(), n)
	}
	var out bytes.Buffer
	err := reader.Renderer().Render(&out, source, page)
	return out.String(), err
}

func targetOf(n ast.Node) (target string, ok bool) {
	switch n := n.(type) {
	case *ast.Link:
		return string(n.Destination), true
	case *ast.Image:
		return string(n.Destination), true
	}
	return "", false
}

// Anchors are the fragments that lead to the headings of a page.
type Anchors map[string]bool

// Add gives a heading its anchor, as GitHub does: the text as shown, in lower
// case; letters, digits, marks, underscores and hyphens stay, a space becomes a
// hyphen, the rest is dropped. Equal ones are numbered.
func (a Anchors) Add(heading string) string {
	id := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-', unicode.In(r, unicode.L, unicode.M, unicode.Nd, unicode.Pc):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
	unique := id
	for i := 1; a[unique]; i++ {
		unique = fmt.Sprintf("%s-%d", id, i)
	}
	a[unique] = true
	return unique
}

// Generate implements parser.IDs.
func (a Anchors) Generate(heading []byte, _ ast.NodeKind) []byte {
	return []byte(a.Add(string(heading)))
}

// Put implements parser.IDs.
func (a Anchors) Put(id []byte) { a[string(id)] = true }
