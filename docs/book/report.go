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
	otherLines     int // of what is neither, most of it output
	steps          int // whose code or output it shows
}

func (s size) plus(other size) size {
	return size{s.prose + other.prose, s.tables + other.tables, s.goOpen + other.goOpen, s.folded + other.folded,
		s.otherLines + other.otherLines, s.steps + other.steps}
}

// size counts the words of a page from one line to before another, and the lines that it embeds there.
func (p *page) size(from, to int) (s size) {
	for _, text := range p.texts {
		switch {
		case text.line < from || text.line >= to:
		case text.inTable:
			s.tables += text.words
		default:
			s.prose += text.words
		}
	}
	steps := map[string]bool{}
	for _, d := range p.directives {
		if d.line < from || d.line >= to {
			continue
		}
		switch isGo := path.Ext(d.file) == ".go"; {
		case isGo && d.isFolded:
			s.folded += d.codeLines()
		case isGo:
			s.goOpen += d.codeLines()
		case !d.isFolded:
			s.otherLines += d.codeLines()
		}
		if name := d.step(); name != "" {
			steps[name] = true
		}
	}
	s.steps = len(steps)
	return s
}

// step returns the step whose code or output d shows, with its program, or "".
func (d *directive) step() string {
	dir, base := path.Split(d.file)
	if name, isCode := strings.CutPrefix(base, "step_"); isCode {
		return dir + strings.TrimSuffix(name, ".go")
	}
	if d.verb == "output" && path.Base(dir) == "testdata" {
		return path.Dir(path.Clean(dir)) + "/" + strings.TrimSuffix(base, ".txt")
	}
	return ""
}

// Report prints how long each page is, and the sums.
func (b *Book) Report(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(s size, name string) {
		fmt.Fprintf(w, "%d\t%d\t%d\t%d\t%d\t%.0f\t  %s\n",
			s.prose, s.tables, s.goOpen, s.folded, s.steps, s.minutes(), name)
	}
	fmt.Fprintln(w, "words of prose\tin tables\tlines of Go, open\tfolded\tsteps\tminutes\t  page")
	var chapters, all size
	for _, name := range slices.Sorted(maps.Keys(b.pages)) {
		s := b.pages[name].size(0, len(b.pages[name].lines))
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
