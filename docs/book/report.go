// Counting words and lines of code.

package book

import (
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"text/tabwriter"
)

// A size says how long a page is.
type size struct {
	prose, tables  int // words outside of blocks
	goOpen, folded int // lines of Go that a reader sees, and those that a reader has to open
}

func (s size) plus(other size) size {
	return size{s.prose + other.prose, s.tables + other.tables, s.goOpen + other.goOpen, s.folded + other.folded}
}

// size counts the words of a page, and the lines of Go that it embeds.
func (p *page) size() size {
	s := size{prose: p.proseWords, tables: p.tableWords}
	for _, d := range p.directives {
		switch {
		case path.Ext(d.file) != ".go":
		case d.isFolded:
			s.folded += d.codeLines()
		default:
			s.goOpen += d.codeLines()
		}
	}
	return s
}

// Report prints how long each page is, and the sums.
func (b *Book) Report(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(s size, name string) {
		fmt.Fprintf(w, "%d\t%d\t%d\t%d\t  %s\n", s.prose, s.tables, s.goOpen, s.folded, name)
	}
	fmt.Fprintln(w, "words of prose\tin tables\tlines of Go, open\tfolded\t  page")
	var chapters, all size
	for _, name := range slices.Sorted(maps.Keys(b.pages)) {
		s := b.pages[name].size()
		row(s, name)
		all = all.plus(s)
		if strings.HasPrefix(name, "docs/0") || name == "docs/prologue.md" {
			chapters = chapters.plus(s)
		}
	}
	row(chapters, "the prologue and the chapters")
	row(all, "all")
	return w.Flush()
}
