// Tests of reading a page: its blocks and anchors.

package book

import (
	"maps"
	"slices"
	"testing"
	"testing/fstest"
)

func TestTypedBlocks(t *testing.T) {
	const page = "docs/01-one.md"
	const fenced = "docs/01-one.md:66: no code or output is typed into a page: put …"
	const indent = "docs/01-one.md:66: no code or output is typed into a page, not by indenting it either: embed it"
	runBadEdits(t, []badEdit{
		appended("go", page, "\n```go\nx := 1\n```\n", fenced),
		appended("no language", page, "\n```\nAdded\n```\n", fenced),
		appended("tildes", page, "\n~~~go\nx := 1\n~~~\n", fenced),
		appended("in a list", page, "\n- ```go\n  x := 1\n  ```\n", fenced),
		appended("in a quote", page, "\n> ```go\n> x := 1\n> ```\n", fenced),
		appended("on the front page", "README.md", "\n```go\nx := 1\n```\n",
			"README.md:5: no code or output is typed into a page: put …"),
		replaced("a blank line after the directive", page, "pop.txt -->\n", "pop.txt -->\n\n",
			"docs/01-one.md:13: no code or output is typed into a page: put …"),
		appended("indented block after a directive", page,
			"\n<!-- code 01-one/pod.yaml -->\n  ```yaml\n  kind: Pod\n  ```\n",
			"docs/01-one.md:67: no code or output is typed into a page: put …"),
		appended("four spaces", page, "\n    x := 1\n", indent),
		appended("pre", page, "\n<pre>x := 1</pre>\n",
			"docs/01-one.md:66: <pre>: a link or a picture is Markdown here, …"),
		appended("link in HTML", page, "\nSee <a href=\"lost.md\">it</a>.\n", "docs/01-one.md:66: <a>: …"),
		appended("typed block in HTML", page, "\n<details>\n```sh\nls\n```\n</details>\n",
			"docs/01-one.md:66: a directive stands alone on its line, …"),
	})
}

// A command to paste must not reach the cluster that happens to be the current one.
func TestKubectlNamesItsCluster(t *testing.T) {
	const page, want = "docs/01-one.md", "docs/01-one.md:67: this kubectl goes to whatever cluster is current: …"
	sh := func(commands string) string { return "\n```sh\n" + commands + "\n```\n" }
	runBadEdits(t, []badEdit{
		appended("bare", page, sh("kubectl get pods"), want),
		appended("with a path", page, sh(".cluster/bin/kubectl get pods"), want),
		appended("in a substitution", page, sh(`V=$(kubectl get --raw "$CM")`), want),
		appended("behind another", page, sh("ls && kubectl delete pod web"), want),
		appended("the second of a line", page, sh("kubectl --context YOURS version; kubectl version"), want),
		appended("with the cluster of someone else", page, sh("kubectl --context=kind-kind version"), want),
		appended("with a kubeconfig in the environment", page,
			sh("KUBECONFIG=.cluster/kubeconfig kubectl version"), want),
		appended("the cluster in a comment", page, sh("kubectl version # --context YOURS"), want),
		appended("in a quote", page, "\n> ```sh\n> kubectl version\n> ```\n", want),
		appended("in a list", page, "\n- ```sh\n  kubectl version\n  ```\n", want),
		appended("on the front page", "README.md", sh("kubectl version"), "README.md:6: this kubectl goes to …"),
	})
}

func TestAllowedBlocks(t *testing.T) {
	cases := map[string]string{
		"sh":                "```sh\nls\n```\n",
		"diff":              "```diff\n-a\n+b\n```\n",
		"sh in a list":      "1. Type\n\n   ```sh\n   ls\n   ```\n",
		"inline":            "``` is three backquotes ``` and so on\n",
		"text in a list":    "- a\n\n    more of a\n\n    - b\n",
		"long line wrapped": "a\n    b\n",
		"pre in a span":     "Use `<pre>`.\n",
		"Mermaid header": "```mermaid\n---\ntitle: A\n---\n%% note\ngraph TD;\n" +
			"  accDescr {\n    A.\n  }\n  A-->B;\n```\n",
		"Mermaid in a line": "```mermaid\ngraph TD;\n  accDescr: A leads to B.\n  A-->B;\n```\n",
		"this cluster":      "```sh\nkubectl --kubeconfig .cluster/kubeconfig get pods\n```\n",
		"your own cluster":  "```sh\ntime kubectl --context YOURS get pods | wc -c\n```\n",
		"kubectl in words":  "```sh\nls # beside kubectl\n```\n\nAsk kubectl.\n",
		"a name with it":    "```sh\ngrep kubectl.kubernetes.io/x .cluster/bin/kubectl-x\n```\n",
		"details":           "<details>\n<summary>a</summary>\n\n```sh\nls\n```\n\n</details>\n",
	}
	for name, text := range cases {
		t.Run(name, func(t *testing.T) {
			got := parsePage("x.md", []byte(text)).problems
			if len(got) > 0 {
				t.Errorf("problems of %q: %v, want none", text, got)
			}
		})
	}
}

func TestAnchors(t *testing.T) {
	cases := []struct {
		name, text string
		want       []string // sorted
	}{
		{"plain", "## Where people trip", []string{"where-people-trip"}},
		{"punctuation goes", "# What's new? (0.33, part 1/2): all", []string{"whats-new-033-part-12-all"}},
		{"code", "# `Pop` and `known_objects` of `Queue[T]`", []string{"pop-and-known_objects-of-queuet"}},
		{"emphasis", "# _so_ _it_ **is** snake_case_word __x__", []string{"so-it-is-snake_case_word-x"}},
		{"link", "# See [the *code*](a.go) and [that][b]\n\n[b]: c", []string{"see-the-code-and-that"}},
		{"repeated", "# a\n# a\n# A", []string{"a", "a-1", "a-2"}},
		{"underlined", "One\n===\n\nTwo\n---\n", []string{"one", "two"}},
		{"not a heading", "#a\n\n####### b\n\n`# c`\n", nil},
		{"in a block or comment", "```sh\n# a\n```\n<!--\n# b\n-->\n", nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := slices.Sorted(maps.Keys(parsePage("x.md", []byte(c.text)).anchors))
			if !slices.Equal(got, c.want) {
				t.Errorf("anchors of %q: %q, want %q", c.text, got, c.want)
			}
		})
	}
}

// FuzzPage reads pages that nobody would write. Problems and render never panic, and a page that
// was rewritten once does not change when it is rewritten again.
func FuzzPage(f *testing.F) {
	for _, seed := range []string{
		chapterPage,
		"a[^1]\n\n[^1]: <!-- code b.yaml -->\n    ```yaml\n",
		"a[^1]\n[^1]:",
		"| a |\n|---|\n| [b](c d) `|` |\n",
		"<!-- code b.yaml -->\n```yaml\n```\n~~~\n",
		"> - ```\n[a](<b> \"c\")[d][]\n[d]: e\n`` ` \\[",
		"a\n---\n<!-- <a href=\"b\"> -->\n<!--\n",
		"[[[![](()](\n\n[^1]: ](",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4<<10 {
			t.Skip("thousands of open brackets in one paragraph take too much time")
		}
		tree := fstest.MapFS{"docs/x.md": file(text), "b.yaml": file("b: 1\n"), "01-one/queue.go": file(queueGo)}
		b := load(t, tree)
		b.Problems()
		once, _, _ := b.render(b.pages["docs/x.md"])
		twice, stale, _ := b.render(parsePage("docs/x.md", []byte(once)))
		if len(stale) > 0 {
			t.Errorf("the rewritten page has stale blocks: %v", stale)
		}
		if once != twice {
			t.Errorf("rewritten once:\n%s\ntwice:\n%s", once, twice)
		}
	})
}
