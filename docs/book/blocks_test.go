// Tests of the rule that no code or output is typed.

package book

import "testing"

func TestTypedBlocks(t *testing.T) {
	const page = "docs/01-one.md"
	const fenced = "docs/01-one.md:53: no code or output is typed into a page: put …"
	const indent = "docs/01-one.md:53: no code or output is typed into a page, not by indenting it either: embed it"
	runBreaking(t, []breaking{
		{"go", page, "", "\n```go\nx := 1\n```\n", fenced},
		{"text", page, "", "\n```text\nAdded\n```\n", fenced},
		{"no language", page, "", "\n```\nAdded\n```\n", fenced},
		{"yaml", page, "", "\n```yaml\na: 1\n```\n", fenced},
		{"tildes", page, "", "\n~~~go\nx := 1\n~~~\n", fenced},
		{"in a list", page, "", "\n- ```go\n  x := 1\n  ```\n", fenced},
		{"in a quote", page, "", "\n> ```go\n> x := 1\n> ```\n", fenced},
		{"on the front page", "README.md", "", "\n```go\nx := 1\n```\n", "README.md:5: no code or output is typed into a page: put …"},
		{"a blank line after the directive", page, "pop.txt -->\n", "pop.txt -->\n\n", "docs/01-one.md:7: no code or output is typed into a page: put …"},
		{"indented block after a directive", page, "", "\n<!-- code 01-one/pod.yaml -->\n  ```yaml\n  kind: Pod\n  ```\n",
			"docs/01-one.md:54: no code or output is typed into a page: put …"},
		{"four spaces", page, "", "\n    x := 1\n", indent},
		{"tab", page, "", "\n\tx := 1\n", indent},
		{"a dash in four spaces", page, "", "\n    - x\n", indent},
		{"pre", page, "", "\n<pre>x := 1</pre>\n", "docs/01-one.md:53: no code or output is typed into a page, not in <pre> either: embed it"},
		{"typed block in HTML", page, "", "\n<details>\n```sh\nls\n```\n</details>\n", "docs/01-one.md:54: leave a blank line after the HTML above: …"},
		{"unknown picture", page, "flowchart LR", "flowchrat LR", "docs/01-one.md:13: Mermaid knows no diagram \"flowchrat\": …"},
		{"empty picture", page, "flowchart LR\n  A --> B\n", "%% later\n", "docs/01-one.md:12: this picture is empty"},
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
		"Mermaid header":    "```mermaid\n---\ntitle: A\n---\n%% note\ngraph TD;\n  A-->B;\n```\n",
		"details":           "<details>\n<summary>a</summary>\n\n```sh\nls\n```\n\n</details>\n",
	}
	for name, text := range cases {
		t.Run(name, func(t *testing.T) {
			p := parsePage("x.md", text)
			if got := append(p.checkBlocks(), p.problems...); len(got) > 0 {
				t.Error(got)
			}
		})
	}
}
