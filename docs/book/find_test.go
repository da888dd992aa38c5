// Tests of finding sections.

package book

import (
	"slices"
	"strings"
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

// An excerpt is the line with most of the words, and is cut around them.
func TestExcerpts(t *testing.T) {
	filler := strings.Repeat("more and more ", 20)
	b := load(t, fstest.MapFS{"docs/guide.md": file("# The guide\n\n" +
		"## Deletes\n\nA delete that nobody saw.\n\n" + filler +
		"then a **tombstone** says which [object](x.md) it was, " + filler + "and that is all.\n\n" +
		"## Table\n\n| a | tombstone |\n|---|---|\n| b | c |\n\n" +
		"## Block\n\n```log\nfirst\nE1 tombstones: 3\n```\n\n" +
		"## Only the heading has tombstone\n\nNothing.\n\n" +
		"## No text: tombstone\n\n<!-- output tombstone.txt -->\n")})
	excerpt := func(query, title string) (line string) {
		t.Helper()
		found := b.Find(query, 10)
		i := slices.IndexFunc(found, func(s Section) bool { return strings.HasSuffix(s.Title, title) })
		if i < 0 {
			t.Fatalf("Find(%q) = %v, want %q among them", query, found, title)
		}
		for _, piece := range b.Excerpts(query, found)[i] {
			if piece.IsMatch {
				piece.Text = "[" + piece.Text + "]"
			}
			line += piece.Text
		}
		return line
	}
	for _, test := range []struct{ query, title, want string }{
		{"tombstone object", "Deletes", "… more and more more and more then a [tombstone] says which [object] it was" +
			", more and more more and more more and more more and more more and more more and more …"},
		{"tombstone", "Table", "a · [tombstone]"},
		{"tombstone", "Block", "E1 [tombstones]: 3"},
		{"the tombstone", "heading has tombstone", "Nothing."},
		{"tombstone", "No text: tombstone", ""},
		{"that nobody", "Deletes", "A delete that [nobody] saw."},
		{"that", "Deletes", "A delete [that] nobody saw."},
	} {
		if got := excerpt(test.query, test.title); got != test.want {
			t.Errorf("%q: the excerpt of %q is\n%q, want\n%q", test.query, test.title, got, test.want)
		}
	}
}

func TestCorrect(t *testing.T) {
	b := load(t, library)
	for query, want := range map[string]string{
		"reflectr": "reflector", "Resorce verson": "resource version", "reflector": "", "unicorn": "", "": "",
		"the histroy": "the history",
	} {
		if got := b.Correct(query); got != want {
			t.Errorf("Correct(%q) = %q, want %q", query, got, want)
		}
	}
}

func TestSuggest(t *testing.T) {
	for name, want := range map[string]string{
		"docs/guied.md": "docs/guide.md:1", "docs/guide": "docs/guide.md:1", "docs/lists.md": "docs/reflector.md:11",
		"expired-too-old-resource-versions": "docs/reflector.md:7", "docs/the-history.md": "docs/guide.md:3",
	} {
		got := load(t, library).Suggest(name)
		if len(got) == 0 || !strings.HasPrefix(got[0].String(), want+": ") {
			t.Errorf("Suggest(%q) = %v, want %s first", name, got, want)
		}
	}
	if got := load(t, library).Suggest("docs/unicorn.md"); got != nil {
		t.Errorf("Suggest(docs/unicorn.md) = %v, want nothing", got)
	}
}
