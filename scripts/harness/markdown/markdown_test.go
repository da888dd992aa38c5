package markdown

import (
	"strings"
	"testing"

	"example.com/informer/scripts/harness/must"
)

func TestHTML(t *testing.T) {
	const page = "# A `b` & c: d's\n```sh\n# no heading\n```\n## Same\n## Same\n" +
		"[one](02.md#watch), [✓](../x_test.go \"TestX\"), [![a picture](b.png)](02.md)\n\n" +
		"| n |\n|--:|\n| 1 |\n\n<details><summary>More</summary>\n\ntext\n\n</details>\n"
	got, err := HTML([]byte(page), func(target string) bool { return strings.HasPrefix(target, "02.md") })
	must.Do(t, err)
	for _, want := range []string{
		`<h1 id="a-b--c-ds">A <code>b</code> &amp; c: d's</h1>`,
		`<pre><code class="language-sh"># no heading`,
		`<h2 id="same">`, `<h2 id="same-1">`,
		`<a href="02.md#watch">one</a>, ✓, <a href="02.md">a picture</a></p>`,
		`<td align="right">1</td>`,
		`<details><summary>More</summary>`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("HTML() lacks %q; it is\n%s", want, got)
		}
	}
}
