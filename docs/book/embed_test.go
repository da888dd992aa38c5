// Tests of directives, and of the blocks that they put on a page.

package book

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestStalePages(t *testing.T) {
	const stale = "the block below is not what `%` gives: `go run ./docs` brings the page back in step"
	runBadEdits(t, []badEdit{
		replaced("source changed", "01-one/queue.go", "return none, errEmpty", "return none, nil",
			"docs/01-one.md:25: "+strings.Replace(stale, "%", "code 01-one/queue.go Queue.Pop", 1)),
		appended("output changed", "01-one/testdata/pop.txt", "more\n",
			"docs/01-one.md:11: "+strings.Replace(stale, "%", "output 01-one/testdata/pop.txt", 1)),
		replaced("block missing", "docs/01-one.md", "```text\nAdded : pod1\n```\n", "",
			"docs/01-one.md:11: "+strings.Replace(stale, "%", "output 01-one/testdata/pop.txt", 1)),
		replaced("other language", "docs/01-one.md", "```yaml", "```json",
			"docs/01-one.md:57: "+strings.Replace(stale, "%", "code 01-one/pod.yaml, folded: Answer", 1)),
		replaced("other summary", "docs/01-one.md", "<summary>Answer", "<summary>Solution",
			"docs/01-one.md:57: "+strings.Replace(stale, "%", "code 01-one/pod.yaml, folded: Answer", 1)),
		replaced("folded no more", "docs/01-one.md", ", folded: Answer -->", " -->",
			"docs/01-one.md:57: "+strings.Replace(stale, "%", "code 01-one/pod.yaml", 1)),
		replaced("to be folded", "docs/01-one.md", "Queue.Pop -->", "Queue.Pop, folded -->",
			"docs/01-one.md:25: "+strings.Replace(stale, "%", "code 01-one/queue.go Queue.Pop, folded", 1)),
	})
}

func TestBrokenDirectives(t *testing.T) {
	const page, code = "docs/01-one.md", "<!-- code 01-one/queue.go Queue.Pop -->"
	const alone = "docs/01-one.md:25: a directive stands alone on its line, from the first column: …"
	runBadEdits(t, []badEdit{
		replaced("unknown file", page, code, "<!-- code 01-one/lost.go Queue.Pop -->",
			"docs/01-one.md:25: open 01-one/lost.go: file does not exist (paths start at the workspace root)"),
		replaced("folder", page, code, "<!-- code 01-one -->", "docs/01-one.md:25: read 01-one: …"),
		replaced("unknown declaration", page, code, "<!-- code 01-one/queue.go Pop -->",
			"docs/01-one.md:25: 01-one/queue.go does not declare Pop; it declares Queue, Queue.Pop, errEmpty, "+
				"small, large, bare"),
		replaced("not Go inside", "01-one/queue.go", "package one", "pakcage one",
			"docs/01-one.md:25: looking for declarations: 01-one/queue.go:2:1: …"),
		replaced("names in YAML", page, "pod.yaml, folded", "pod.yaml kind, folded",
			"docs/01-one.md:57: 01-one/pod.yaml is not a Go file: it is embedded whole, name nothing in it"),
		replaced("no file", page, code, "<!-- code -->", alone),
		replaced("misspelt", page, code, "<!-- coed 01-one/queue.go -->",
			"docs/01-one.md:26: no code or output is typed into a page: put …"),
		replaced("outside the workspace", page, code, "<!-- code ../secret.go -->",
			"docs/01-one.md:25: open ../secret.go: file does not exist (paths start at the workspace root)"),
		replaced("two outputs", page, code, "<!-- output 01-one/testdata/pop.txt Queue -->", alone),
		replaced("output that no test compares", page, code, "<!-- output 01-one/queue.go -->",
			"docs/01-one.md:25: 01-one/queue.go is not an output: those are expected, in testdata/*.txt, or "+
				"measured, in docs/lab/*/*.txt"),
		replaced("two lines", page, code, "<!-- code 01-one/queue.go\nQueue.Pop -->", alone),
		replaced("indented", page, code, "  "+code, alone),
		appended("after text", page, "\nLook: "+code,
			"docs/01-one.md:66: a directive stands alone on its line, from the first column: …"),
		replaced("before text", page, code, code+" there", alone),
		replaced("empty file", "01-one/pod.yaml", "kind: Pod\n", "\n",
			"docs/01-one.md:57: 01-one/pod.yaml is empty: there is nothing to show"),
		replaced("in HTML", page, "</summary>\n\n", "</summary>\n",
			"docs/01-one.md:58: a directive stands alone on its line, …"),
		replaced("folded output", page, "<!-- output 01-one/testdata/pop.txt -->",
			"<!-- output 01-one/testdata/pop.txt, folded -->",
			"docs/01-one.md:11: a directive stands alone on its line, …"),
		replaced("folded in another way", page, code, "<!-- code 01-one/queue.go Queue.Pop, hidden -->", alone),
		{"folded by hand", func(t *testing.T, tree fstest.MapFS) {
			replaceText(t, tree, page, code, "<details>\n\n"+code)
			replaceText(t, tree, page, "## How client-go", "</details>\n\n## How client-go")
		}, "docs/01-one.md:27: code is folded in one way: …"},
		replaced("picture in the way", page, "```mermaid", code+"\n```mermaid",
			"docs/01-one.md:18: the mermaid block below would be replaced by `code 01-one/queue.go Queue.Pop`: "+
				"leave a blank line between the two"),
		appended("a picture without words", page, "\n```mermaid\ngraph TD\n  A --> B\n```\n",
			"docs/01-one.md:66: this diagram does not say in words what one sees: …"),
		appended("a picture with no word", page, "\n```mermaid\ngraph TD\n  accDescr { }\n  A --> B\n```\n",
			"docs/01-one.md:66: this diagram does not say in words what one sees: …"),
		appended("unclosed fence", page, "\n```sh\nls\n", "docs/01-one.md:66: this ``` block is never closed"),
		appended("unclosed comment", page, "\n<!-- a note\n", "docs/01-one.md:66: this <!-- comment is never closed"),
	})
}

func TestRender(t *testing.T) {
	cases := []struct{ name, page, want string }{
		{"insert at the end of the page", "<!-- output testdata/a.txt -->",
			"<!-- output testdata/a.txt -->\n```text\na\n```"},
		{"insert before text", "<!-- output testdata/a.txt -->\ntext\n",
			"<!-- output testdata/a.txt -->\n```text\na\n```\ntext\n"},
		{"insert twice", "<!-- output testdata/a.txt -->\n<!-- code b.yaml -->\n",
			"<!-- output testdata/a.txt -->\n```text\na\n```\n<!-- code b.yaml -->\n```yaml\nb: 1\n```\n"},
		{"replace", "<!-- code b.yaml -->\n```text\nold\nold\n```\n\nend\n",
			"<!-- code b.yaml -->\n```yaml\nb: 1\n```\n\nend\n"},
		{"replace a tilde fence", "<!-- code b.yaml -->\n~~~yaml\n```\n~~~\n",
			"<!-- code b.yaml -->\n```yaml\nb: 1\n```\n"},
		{"a longer fence", "<!-- code c.md -->\n", "<!-- code c.md -->\n`````md\n````\n```\n`````\n"},
		{"whole Go file", "<!-- code d.go -->\n", "<!-- code d.go -->\n```go\npackage d\n```\n"},
		{"no extension", "<!-- code Makefile -->\n", "<!-- code Makefile -->\n```text\nall:\n```\n"},
		{"an owned script", "<!-- code e.sh -->\n```sh\nold\n```\n", "<!-- code e.sh -->\n```sh\nls\n```\n"},
		{"fold", "<!-- code b.yaml, folded -->\n", "<!-- code b.yaml, folded -->\n" +
			"<details><summary>The code: b.yaml</summary>\n\n```yaml\nb: 1\n```\n\n</details>\n"},
		{"fold a step", "<!-- code step_d.go, folded -->", "<!-- code step_d.go, folded -->\n" +
			"<details><summary>The code of d</summary>\n\n```go\npackage d\n```\n\n</details>"},
		{"replace a folded block", "<!-- code b.yaml, folded: It -->\n" +
			"<details><summary>old</summary>\n\n```yaml\nold\n\n```\n\n</details>\n\nend\n",
			"<!-- code b.yaml, folded: It -->\n" +
				"<details><summary>It</summary>\n\n```yaml\nb: 1\n```\n\n</details>\n\nend\n"},
		{"unfold", "<!-- code b.yaml -->\n<details><summary>old</summary>\n\n```yaml\nold\n```\n\n</details>\n",
			"<!-- code b.yaml -->\n```yaml\nb: 1\n```\n"},
		{"in a code span", "Write `<!-- code FILE -->` there.\n", "Write `<!-- code FILE -->` there.\n"},
		{"in a block", "```sh\n<!-- code b.yaml -->\n```\n", "```sh\n<!-- code b.yaml -->\n```\n"},
		{"in a comment", "<!--\n<!-- code b.yaml\n-->\n", "<!--\n<!-- code b.yaml\n-->\n"},
		{"plain comment", "<!-- a note -->\n", "<!-- a note -->\n"},
	}
	tree := fstest.MapFS{
		"testdata/a.txt": file("a\n"), "b.yaml": file("b: 1\n\n"), "c.md": file("````\n```\n"),
		"d.go": file("package d\n"), "step_d.go": file("package d\n"),
		"Makefile": file("all:\n"), "e.sh": file("ls\n"),
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			tree["docs/x.md"] = file(c.page)
			rewriteTree(t, tree)
			if diff := cmp.Diff(c.want, string(tree["docs/x.md"].Data)); diff != "" {
				t.Errorf("the rewritten page differs (-want +got):\n%s", diff)
			}
			rewriteTree(t, tree)
			if diff := cmp.Diff(c.want, string(tree["docs/x.md"].Data)); diff != "" {
				t.Errorf("the page that was rewritten twice differs (-want +got):\n%s", diff)
			}
		})
	}
}
