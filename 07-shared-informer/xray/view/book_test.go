// The links of captions, and the files that are not shown.

package view

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

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
			if section == "" {
				t.Errorf("the link %s names no section", text)
			}
			if !strings.Contains(page, ` id="`+section+`"`) {
				t.Errorf("the link %s: %s has no heading with the anchor %q", text, name, section)
			}
		}
		return true
	})
	if links < 10 {
		t.Errorf("caption.go has %d links, want 10 or more", links)
	}
}

func TestOnlyThePagesOfTheBookAreShown(t *testing.T) {
	for _, name := range []string{"main.go", "../README.md", "..", "book", "no-such-page.md", "%2e%2e.md", ""} {
		if page, err := readBook(name); err == nil {
			t.Errorf("readBook(%q) = %.50s …, nil; want an error", name, page)
		}
	}
}
