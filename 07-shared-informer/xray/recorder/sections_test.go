// The sections of the book that captions name.

package recorder

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"

	"example.com/informer/scripts/harness/markdown"
	"example.com/informer/scripts/harness/must"
)

func TestTheBookHasTheSectionsOfCaptions(t *testing.T) {
	here, err := os.Getwd()
	must.Do(t, err)
	sections := 0
	for _, text := range stringsOf(t, "caption.go") {
		page, anchor, ok := strings.Cut(text, "#")
		if !ok || !strings.HasPrefix(page, "docs/") {
			continue
		}
		sections++
		source, err := os.ReadFile(here + "/../../../" + page) // not cleaned: `go test` then sees changes of the page
		must.Do(t, err)
		if !markdown.AnchorsOf(source)[anchor] {
			t.Errorf("%s: %s has no heading with the anchor %q", text, page, anchor)
		}
	}
	if sections < 10 {
		t.Errorf("caption.go names %d sections, want 10 or more", sections)
	}
}

// stringsOf returns the string literals of a Go file.
func stringsOf(t *testing.T, name string) (texts []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
	must.Do(t, err)
	ast.Inspect(file, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			text, err := strconv.Unquote(literal.Value)
			must.Do(t, err)
			texts = append(texts, text)
		}
		return true
	})
	return texts
}
