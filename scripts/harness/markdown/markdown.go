// Package markdown parses a page of the book as GitHub does.
package markdown

import (
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

var parser = goldmark.New(goldmark.WithExtensions(
	extension.Linkify, extension.Strikethrough, extension.TaskList, extension.Footnote, extension.Table)).Parser()

// Parse parses a page.
func Parse(source []byte) ast.Node { return parser.Parse(text.NewReader(source)) }
