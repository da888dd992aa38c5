package markdown

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark/ast"
	extensionast "github.com/yuin/goldmark/extension/ast"

	"example.com/informer/scripts/harness/must"
)

func TestParse(t *testing.T) {
	const page = "# A `b`\n```sh\n# no heading\n```\n## Same\n" +
		"[one](02.md#watch), https://go.dev\n\n| n |\n|--:|\n| 1 |\n\n<details>\n\ntext\n\n</details>\n"
	got := map[ast.NodeKind]int{}
	must.Do(t, ast.Walk(Parse([]byte(page)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
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
	const page = "# A `b` & c: d's\n## Same\ntext\n### Same\n```sh\n# no heading\n```\n## same-1\n\nÜnïcode_1\n---\n"
	want := Anchors{"a-b--c-ds": true, "same": true, "same-1": true, "same-1-1": true, "ünïcode_1": true}
	if diff := cmp.Diff(want, AnchorsOf([]byte(page))); diff != "" {
		t.Errorf("anchors differ (-want +got):\n%s", diff)
	}
}
