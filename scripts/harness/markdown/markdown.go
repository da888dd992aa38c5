// Package markdown parses a page of the book as GitHub does.
package markdown

import (
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// New returns a parser of pages, which can also render them.
func New(options ...goldmark.Option) goldmark.Markdown {
	// A style attribute would be refused by the policy of a page.
	table := extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute))
	extensions := goldmark.WithExtensions(
		extension.Linkify, extension.Strikethrough, extension.TaskList, extension.Footnote, table)
	return goldmark.New(append([]goldmark.Option{extensions}, options...)...)
}

var parser = New().Parser()

// Parse parses a page.
func Parse(source []byte) ast.Node { return parser.Parse(text.NewReader(source)) }

// PlainText returns the text inside a node of a page, without markup.
func PlainText(n ast.Node, source []byte) string {
	var out strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && entering {
			out.Write(t.Value(source))
			if t.SoftLineBreak() {
				out.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return out.String()
}
