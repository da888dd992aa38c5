// Tests of the command: its arguments, and what it finds in the real book.

package main

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/informer/docs/book"
)

func TestWrongArguments(t *testing.T) {
	for _, args := range [][]string{{"nonsense"}, {"-nonsense"}, {"find"}, {"report", "more"}, {"report", "-x"}} {
		var out strings.Builder
		err := run(args, &out)
		if !errors.As(err, new(usageError)) || out.Len() > 0 {
			t.Errorf("run(%q) printed %q, error %v; want nothing, and a usageError", args, out.String(), err)
		}
	}
}

func TestHelp(t *testing.T) {
	var out strings.Builder
	if err := run([]string{"-h"}, &out); err != nil || out.String() != usage {
		t.Errorf("run(-h) printed %q, error %v; want the usage", out.String(), err)
	}
}

func TestFindInTheBook(t *testing.T) {
	var out strings.Builder
	if err := run([]string{"find", "too", "old", "resource version"}, &out); err != nil {
		t.Fatal(err)
	}
	wanted := regexp.MustCompile(`^((README|docs/[\w/-]+)\.md:\d+: .+\n    .*(old|resource).*\n){5}$`)
	if !wanted.MatchString(out.String()) {
		t.Errorf("find printed\n%swant 5 lines PAGE:LINE: SECTION, each with a line of the section below it",
			out.String())
	}
}

func TestFindNothing(t *testing.T) {
	var out strings.Builder
	err := run([]string{"find", "tombstome"}, &out)
	const want = "find: no section of the book has any of these words: tombstome: did you mean tombstone?"
	if err == nil || err.Error() != want || out.Len() > 0 {
		t.Errorf("find printed %q, error %v; want nothing, and the error %q", out.String(), err, want)
	}
}

func TestReport(t *testing.T) {
	var out strings.Builder
	err := run([]string{"report"}, &out)
	if want := "docs/reference/glossary.md"; err != nil || !strings.Contains(out.String(), want) {
		t.Errorf("report printed\n%serror %v; want a line for each page, such as %s", out.String(), err, want)
	}
}

var logBlock = regexp.MustCompile("(?ms)^```log\n(.*?)^```$")

// Someone pastes a line of a log, with a time, and with names and numbers where the book has dots.
// A section with this line is among those that are found.
func TestFindLinesOfALog(t *testing.T) {
	tree := root(t)
	b, err := book.Load(tree)
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, page := range pages(t, tree) {
		for _, block := range logBlock.FindAllStringSubmatch(readFile(t, tree, page), -1) {
			for line := range strings.Lines(block[1]) {
				tried++
				checkFound(t, b, strings.TrimSpace(line))
			}
		}
	}
	if tried == 0 {
		t.Error("the book has no lines of a log")
	}
}

// checkFound looks for a line of a log of the book.
func checkFound(t *testing.T, b *book.Book, line string) {
	t.Helper()
	pasted := "E1117 03:14:15.926535 1 " + strings.ReplaceAll(line, "…", " x4711 ")
	sections := b.Find(pasted, bestSections)
	if !slices.ContainsFunc(sections, func(s book.Section) bool { return hasLine(t, s, line) }) {
		t.Errorf("this line is in none of the sections that find prints:\n%s\n%v", line, sections)
	}
}

// hasLine reports whether a section has this line.
func hasLine(t *testing.T, s book.Section, line string) bool {
	t.Helper()
	lines := strings.Split(readFile(t, root(t), s.Page), "\n")[s.Line:]
	if end := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "#") }); end >= 0 {
		lines = lines[:end]
	}
	return slices.Contains(lines, line)
}
