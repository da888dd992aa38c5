// That the book has what captions link to, and that nothing else is shown.

package view

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
)

func TestTheBookHasWhatCaptionsLinkTo(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../recorder/caption.go", nil, 0)
	must.Do(t, err)
	links := 0
	ast.Inspect(file, func(n ast.Node) bool {
		literal, ok := n.(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING {
			return true
		}
		text, err := strconv.Unquote(literal.Value)
		must.Do(t, err)
		if link, ok := strings.CutPrefix(text, "/xray/book/"); ok {
			links++
			name, section, _ := strings.Cut(link, "#")
			page, err := readBook(name)
			must.Do(t, err)
			expect.That(t, section != "" && strings.Contains(page, ` id="`+section+`"`),
				"%s has no heading with the anchor %q", name, section)
		}
		return true
	})
	expect.That(t, links >= 10, "found %d links in caption.go", links)
}

func TestOnlyThePagesOfTheBookAreShown(t *testing.T) {
	for _, name := range []string{"main.go", "../README.md", "..", "book", "no-such-page.md", "%2e%2e.md", ""} {
		_, err := readBook(name)
		expect.That(t, err != nil, "%q is a page of the book", name)
	}
}
