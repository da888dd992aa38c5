// Tests of finding sections.

package book

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// library has a few sections about the same words.
var library = fstest.MapFS{
	"README.md": file("# Front\n\nAn informer keeps a copy.\n"),
	"docs/guide.md": file("# The guide\n\n" +
		"## Too old resource version\n\nThe history is gone.\n\n" +
		"## Cannot list the resource\n\nA right is missing.\n\n```log\nE1 reflector.go:1] \"Failed to watch\" " +
		"err=\"failed to list *v1.Pod: pods is forbidden\"\n```\n\n" +
		"## Run it\n\nIt runs.\n"),
	"docs/reflector.md": file("# The reflector\n\n" +
		"## Version\n\nThe resource has a version, which may be too old.\n\n" +
		"## Expired: too old resource version\n\nIt lists.\n\n" +
		"## Lists\n\nThe server says: too old resource version.\n"),
	"docs/zh.md": file("# 中文\n\n## 队列\n\n反射器把每次变更写进 DeltaFIFO 队列。\n"),
}

func found(t *testing.T, query string) (lines []string) {
	t.Helper()
	for _, s := range load(t, library).Find(query, 4) {
		lines = append(lines, s.String())
	}
	return lines
}

func TestFind(t *testing.T) {
	const (
		tooOld  = "docs/guide.md:3: The guide › Too old resource version"
		cannot  = "docs/guide.md:7: The guide › Cannot list the resource"
		version = "docs/reflector.md:3: The reflector › Version"
		expired = "docs/reflector.md:7: The reflector › Expired: too old resource version"
		lists   = "docs/reflector.md:11: The reflector › Lists"
	)
	for _, c := range []struct {
		name, query string
		want        []string // the begin of what is found
	}{
		{"heading, then part of one, then text, then words", "too old resource version",
			[]string{tooOld, expired, lists, version}},
		{"case, marks and plurals do not count", "Too-old `resources` VERSION?", []string{tooOld, expired}},
		{"all words of a heading, in another order", "which version of a resource is old, too?",
			[]string{tooOld, expired}},
		{"a line of a log that contains a heading",
			`W1117 13:14:06.123 5 reflector.go:561] watch of *v1.Pod ended with: too old resource version: 7 (9)`,
			[]string{tooOld}},
		{"a line of a log, with another time",
			`E1117 13:14:06.123 5 reflector.go:204] "Failed to watch" err="failed to list *v1.Pod: pods is forbidden"`,
			[]string{cannot}},
		{"the title of a page", "the reflector", []string{"docs/reflector.md:1: The reflector"}},
		{"a word of the front page", "copies", nil},
		{"a word of the front page, as it is there", "copy", []string{"README.md:1: Front"}},
		{"Chinese, which has no spaces between words", "变更写进", []string{"docs/zh.md:3: 中文 › 队列"}},
		{"nothing", "kangaroo", nil},
		{"no words", "?!", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := found(t, c.query)
			if c.want == nil && got != nil {
				t.Errorf("Find(%q) = %q, want nothing", c.query, got)
			}
			if diff := cmp.Diff(c.want, got[:min(len(c.want), len(got))]); diff != "" {
				t.Errorf("Find(%q) begins in another way (-want +got):\n%s", c.query, diff)
			}
		})
	}
}

func TestFindKeepsTheLimit(t *testing.T) {
	if got := load(t, library).Find("the", 2); len(got) != 2 {
		t.Errorf("Find(the, 2) = %v, want 2 sections", got)
	}
}
