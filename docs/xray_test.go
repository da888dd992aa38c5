// What the page X-ray says about this page of the book.

package main

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"example.com/informer/scripts/harness/markdown"
	"example.com/informer/scripts/harness/must"
)

var (
	toTry        = regexp.MustCompile(`<li><cite data-section="docs/xray\.md#([^"]+)">([^<]+)</cite>(.*)</li>`)
	pressed      = regexp.MustCompile(`<b>([^<]+)</b>`)
	toTryHeading = regexp.MustCompile(`(?m)^### (\d\. (.+))\n`)
)

// X-ray lists the things to try that docs/xray.md explains, with the buttons in the same order.
func TestWhatXRayListsToTry(t *testing.T) {
	read := func(name string) string {
		text, err := fs.ReadFile(root(t), name)
		must.NoError(t, err)
		return string(text)
	}
	html := read("docs/xray/view/page/index.html")
	_, page, _ := strings.Cut(read("docs/xray.md"), "\n## Six things to try\n")
	page, _, _ = strings.Cut(page, "\n## ")
	items, headings := toTry.FindAllStringSubmatch(html, -1), toTryHeading.FindAllStringSubmatchIndex(page, -1)
	if len(items) != 6 || len(headings) != 6 {
		t.Fatalf("X-ray lists %d things, and docs/xray.md has %d, want six of both", len(items), len(headings))
	}
	for i, item := range items {
		at := headings[i]
		anchors := markdown.Anchors{}
		anchor, title := anchors.Add(page[at[2]:at[3]]), page[at[4]:at[5]]
		if item[1] != anchor || item[2] != title {
			t.Errorf("X-ray has %q and links to #%s, want %q and #%s", item[2], item[1], title, anchor)
		}
		text, _, _ := strings.Cut(page[at[1]:], "\n### ")
		for _, button := range pressed.FindAllStringSubmatch(item[3], -1) {
			_, after, found := strings.Cut(text, "*"+button[1]+"*")
			if !found || !strings.Contains(html, ">"+button[1]+"</button>") {
				t.Errorf("%q: X-ray says %s; want a button that docs/xray.md names after the one before",
					title, button[1])
			}
			text = after
		}
	}
}
