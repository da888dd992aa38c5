// Tests of counting words and lines.

package book

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReport(t *testing.T) {
	tree := morePages(t)
	tree["docs/prologue.md"] = file("# A prologue\n\nSome *words*,\nand `a.b c`.\n\n- a list\n\n" +
		"| a | b |\n|---|---|\n| in a table | |\n\n```sh\nls not counted\n```\n\n" +
		"<!-- code 01-one/queue.go Queue.Pop, folded -->\n\n<!-- code 01-one/queue.go bare -->\n")
	rewriteTree(t, tree)
	var out strings.Builder
	if err := load(t, tree).Report(&out); err != nil {
		t.Fatal(err)
	}
	want := `
  words of prose  in tables  lines of Go, open  folded  steps  minutes  page
               4          0                  0       0      0        0  README.md
              51          0                  5       0      1        2  docs/01-one.md
               7          0                  0       0      0        0  docs/README.md
               5          0                  0       0      0        0  docs/guide.md
               3          0                  1       0      0        0  docs/guide/log.md
               9          5                  1       5      0        0  docs/prologue.md
               4          0                  0       0      0        0  docs/two.md
               4          0                  0       0      0        0  docs/words.md
              60          5                  6       5      1        2  the prologue and the chapters
              87          5                  7       5      1        2  all
`
	if diff := cmp.Diff(want, "\n"+out.String()); diff != "" {
		t.Errorf("Report() differs (-want +got):\n%s", diff)
	}
}
