// Tests of GitHub's anchors.

package book

import (
	"maps"
	"slices"
	"testing"
)

func TestAnchors(t *testing.T) {
	cases := []struct {
		name, text string
		want       []string // sorted
	}{
		{"plain", "## Where people trip", []string{"where-people-trip"}},
		{"hyphen stays", "## How client-go does it today", []string{"how-client-go-does-it-today"}},
		{"punctuation goes", "# What's new? (0.33, part 1/2): all", []string{"whats-new-033-part-12-all"}},
		{"a dash leaves two hyphens", "# a – b", []string{"a--b"}},
		{"code", "# `Pop` and `known_objects` of `Queue[T]`", []string{"pop-and-known_objects-of-queuet"}},
		{"emphasis", "# _so_ _it_ **is** snake_case_word __x__", []string{"so-it-is-snake_case_word-x"}},
		{"link", "# See [the *code*](a.go) and [that][b]", []string{"see-the-code-and-that"}},
		{"link with code", "# See [`Pop`](a.go)", []string{"see-pop"}},
		{"image", "# ![logo](a.png) Book", []string{"-book"}},
		{"tag and entity", "# a<br>b &amp; c", []string{"ab--c"}},
		{"letters of any script", "# Größe 中文 É", []string{"größe-中文-é"}},
		{"emoji", "# 🚀 go", []string{"-go"}},
		{"closing marks", "# C# ##", []string{"c"}},
		{"repeated", "# a\n# a\n# A", []string{"a", "a-1", "a-2"}},
		{"underlined", "One\n===\n\nTwo\n---\n", []string{"one", "two"}},
		{"a rule is none", "a\n\n---\n\n- b\n---\n\n| c |\n---\n", nil},
		{"not a heading", "#a\n\n####### b\n\n`# c`\n", nil},
		{"in a block or comment", "```sh\n# a\n```\n<!--\n# b\n-->\n", nil},
		{"named anchor", "<a id=\"here\"></a>\n", []string{"here"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := slices.Sorted(maps.Keys(parsePage("x.md", c.text).anchors()))
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
