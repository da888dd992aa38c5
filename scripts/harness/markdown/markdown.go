// Package markdown parses a page of the book as GitHub does, and renders it as HTML.
package markdown

import (
	"bytes"

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

// Parse parses a page.
func Parse(source []byte) ast.Node {
	ids := parser.WithIDs(Anchors{})
	return reader.Parser().Parse(text.NewReader(source), parser.WithContext(parser.NewContext(ids)))
}

// HTML renders a page, without the head and the body element. If follow returns false for the
// target of a link or of a picture, HTML writes only its text.
func HTML(source []byte, follow func(target string) bool) (string, error) {
	page := Parse(source)
	var unwanted []ast.Node
	collect := func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if target, ok := targetOf(n); ok && entering && !follow(target) {
			unwanted = append(unwanted, n)
		}
		return ast.WalkContinue, nil
	}
	if err := ast.Walk(page, collect); err != nil {
		return "", err
	}
	for _, n := range unwanted {
		replaceByChildren(n)
	}
	var out bytes.Buffer
	err := reader.Renderer().Render(&out, source, page)
	return out.String(), err
}

// replaceByChildren puts the children of a node into its place.
func replaceByChildren(n ast.Node) {
	for child := n.FirstChild(); child != nil; child = n.FirstChild() {
		n.Parent().InsertBefore(n.Parent(), n, child)
	}
	n.Parent().RemoveChild(n.Parent(), n)
}

// targetOf returns the target of a link or of a picture.
func targetOf(n ast.Node) (target string, ok bool) {
	switch n := n.(type) {
	case *ast.Link:
		return string(n.Destination), true
	case *ast.Image:
		return string(n.Destination), true
	}
	return "", false
}
