// A fuzz test of reading and rewriting a page.

package book

import (
	"testing"
	"testing/fstest"
)

// FuzzPage feeds pages that nobody would write: reading one never panics and
// loses nothing, and what was rewritten once stays as it is.
func FuzzPage(f *testing.F) {
	for _, seed := range []string{
		chapterPage,
		"<!-- code b.yaml -->\n```yaml\n```\n~~~\n",
		"> - ```\n[a](<b> \"c\")[d][]\n[d]: e\n`` ` \\[",
		"a\n---\n<!-- <a href=\"b\"> -->\n<!--\n",
		"[[[![](()](\n\n[^1]: ](",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4<<10 {
			t.Skip("thousands of open brackets in one paragraph only cost time")
		}
		p := parsePage("docs/x.md", text)
		if p.text() != text || len(p.prose) != len(text) {
			t.Fatalf("read as %q, masked as %q", p.text(), p.prose)
		}
		tree := fstest.MapFS{"docs/x.md": file(text), "b.yaml": file("b: 1\n"), "01-one/queue.go": file(queueGo)}
		b := load(t, tree)
		b.Problems()
		once, _, _ := b.render(p)
		twice, stale, _ := b.render(parsePage("docs/x.md", once))
		if once != twice || len(stale) > 0 {
			t.Fatalf("rewritten once:\n%s\ntwice:\n%s", once, twice)
		}
	})
}
