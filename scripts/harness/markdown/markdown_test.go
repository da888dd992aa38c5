package markdown

import (
	"slices"
	"testing"

	"github.com/yuin/goldmark/ast"
	extensionast "github.com/yuin/goldmark/extension/ast"

	"example.com/informer/scripts/harness/must"
)

func TestParse(t *testing.T) {
	const page = "# A `b`\n```sh\n# no heading\n```\n## Same\n" +
		"[one](02.md#watch), https://go.dev\n\n| n |\n|--:|\n| 1 |\n\n<details>\n\ntext\n\n</details>\n"
	got := map[ast.NodeKind]int{}
	must.NoError(t, ast.Walk(Parse([]byte(page)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			got[n.Kind()]++
		}
		return ast.WalkContinue, nil
	}))
	for kind, want := range map[ast.NodeKind]int{
		ast.KindHeading: 2, ast.KindFencedCodeBlock: 1, ast.KindLink: 1, ast.KindAutoLink: 1, ast.KindHTMLBlock: 2,
		extensionast.KindTable: 1,
	} {
		if got[kind] != want {
			t.Errorf("the page has %d nodes of the kind %s, want %d", got[kind], kind, want)
		}
	}
}

func TestAnchors(t *testing.T) {
	anchors := Anchors{}
	var got []string
	for _, heading := range []string{"A `b` & c: d's", "Same", "Same", "same-1", "Ünïcode_1"} {
		got = append(got, anchors.Add(heading))
	}
	want := []string{"a-b--c-ds", "same", "same-1", "same-1-1", "ünïcode_1"}
	if !slices.Equal(got, want) {
		t.Errorf("the anchors are %q, want %q", got, want)
	}
}
