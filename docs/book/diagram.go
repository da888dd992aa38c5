// The diagrams of the book, and the pictures of them.

package book

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"

	"example.com/informer/scripts/harness/markdown"
)

// Diagrams returns the sources of the diagrams of a page: its mermaid blocks.
func (b *Book) Diagrams(name string) (sources []string) {
	p, err := b.page(name)
	if err != nil {
		return nil
	}
	_ = ast.Walk(markdown.Parse(p.source), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		block, ok := n.(*ast.FencedCodeBlock)
		if ok && entering && string(block.Language(p.source)) == "mermaid" {
			sources = append(sources, string(block.Lines().Value(p.source)))
		}
		return ast.WalkContinue, nil
	})
	return sources
}

// description matches what a diagram shows, in words. GitHub reads it out, too.
var description = regexp.MustCompile(`(?m)^\s*accDescr\s*(?::(.+)|\{([^}]+)\})`)

// Describe returns what somebody sees who looks at a diagram, in words, or "" if the diagram does not say it.
func Describe(diagram string) string {
	match := description.FindStringSubmatch(diagram)
	if match == nil {
		return ""
	}
	return strings.Join(strings.Fields(match[1]+match[2]), " ")
}

// DiagramFile returns the name of the picture of a diagram. If the source of the diagram changes,
// so does the name.
func DiagramFile(source string) string {
	return fmt.Sprintf("%s/diagram-%.6x.svg", picturesFolder, sha256.Sum256([]byte(source)))
}

// picturesFolder has the pictures of the book.
const picturesFolder = "docs/pictures"

// DiagramFiles returns the pictures that the diagrams of the book need, each with the source of its
// diagram, and the pictures of diagrams that the book no longer has.
func (b *Book) DiagramFiles() (needed map[string]string, surplus []string) {
	needed = map[string]string{}
	for name := range b.pages {
		for _, source := range b.Diagrams(name) {
			needed[DiagramFile(source)] = source
		}
	}
	files, _ := fs.Glob(b.ws, picturesFolder+"/diagram-*.svg") // its only error is a malformed pattern
	for _, file := range files {
		if needed[file] == "" {
			surplus = append(surplus, file)
		}
	}
	return needed, surplus
}
