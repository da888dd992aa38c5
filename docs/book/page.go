// Reading a page: its fenced blocks, its comments and its directives.

package book

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// page is one Markdown file, taken apart.
type page struct {
	name       string   // slash-separated, from the workspace root
	lines      []string // without their newlines
	hidden     []bool   // hidden[i]: line i belongs to a fenced block or a comment, not to the prose
	fences     []*fence
	directives []directive
	prose      string    // the text with all that is not prose blanked out, byte for byte as long (see mask)
	problems   []Problem // what was wrong with fences and directives
}

// fence is a fenced block. Its lines are start (the opening) to end (the
// closing), counted from 0.
type fence struct {
	start, end int
	lang       string
	owned      bool // by the directive on the line before
	margin     bool // it starts in the first column
}

var (
	// A fence may stand in a quote or a list item.
	fenceOpen  = regexp.MustCompile("^((?:[ \t>]|(?:[-*+]|\\d+[.)])[ \t])*)(`{3,}|~{3,})[ \t]*([^`]*)$")
	fenceClose = regexp.MustCompile("^[ \t>]*(`{3,}|~{3,})[ \t]*$")
	htmlTag    = regexp.MustCompile(`^ {0,3}</?[A-Za-z][A-Za-z0-9-]*(\s|/?>|$)`)
)

func parsePage(name, text string) *page {
	p := &page{name: name, lines: strings.Split(text, "\n")}
	p.hidden = make([]bool, len(p.lines))
	p.scan()
	p.mask()
	return p
}

func (p *page) text() string { return strings.Join(p.lines, "\n") }

// problem notes what is wrong at line i, counted from 0.
func (p *page) problem(i int, format string, args ...any) Problem {
	return Problem{Page: p.name, Line: i + 1, Text: fmt.Sprintf(format, args...)}
}

func (p *page) complain(i int, format string, args ...any) {
	p.problems = append(p.problems, p.problem(i, format, args...))
}

// scan walks over the lines once and finds fences, comments and directives.
func (p *page) scan() {
	inHTML := false // an HTML block lasts until a blank line; Markdown inside it is not seen
	for i := 0; i < len(p.lines); i++ {
		line := p.lines[i]
		switch {
		case strings.TrimSpace(line) == "":
			inHTML = false
		case fenceOpen.MatchString(line):
			p.blankBefore(i, inHTML)
			i = p.scanFence(i)
			inHTML = false
		case strings.HasPrefix(strings.TrimSpace(line), "<!--"):
			if isDirective(line) {
				p.blankBefore(i, inHTML)
			}
			i = p.scanComment(i)
		case htmlTag.MatchString(line):
			inHTML = true
		}
	}
}

func (p *page) blankBefore(i int, inHTML bool) {
	if inHTML {
		p.complain(i, "leave a blank line after the HTML above: GitHub shows a block right below a tag as plain text")
	}
}

// scanFence records the block that opens at line i and returns its last line.
func (p *page) scanFence(i int) int {
	m := fenceOpen.FindStringSubmatch(p.lines[i])
	f := &fence{start: i, margin: m[1] == ""}
	if words := strings.Fields(m[3]); len(words) > 0 {
		f.lang = words[0]
	}
	f.end = slices.IndexFunc(p.lines[i+1:], func(line string) bool {
		c := fenceClose.FindStringSubmatch(line)
		return c != nil && c[1][0] == m[2][0] && len(c[1]) >= len(m[2])
	})
	if f.end < 0 {
		p.complain(i, "this %s block is never closed", m[2])
		f.end = len(p.lines) - 1
	} else {
		f.end += i + 1
	}
	p.hide(f.start, f.end)
	p.fences = append(p.fences, f)
	return f.end
}

// scanComment records the comment that starts at line i, with its directive and
// the directive's block if there is one, and returns the last line of it all.
func (p *page) scanComment(i int) int {
	end := i
	for !strings.Contains(p.lines[end], "-->") {
		if end++; end == len(p.lines) {
			p.complain(i, "this <!-- comment is never closed")
			end--
			break
		}
	}
	p.hide(i, end)
	if !isDirective(p.lines[i]) {
		return end
	}
	d := parseDirective(p.lines[i])
	d.line = i
	if next := end + 1; next < len(p.lines) && fenceOpen.MatchString(p.lines[next]) {
		end = p.scanFence(next)
		f := p.fences[len(p.fences)-1]
		if f.owned = f.margin; f.owned {
			d.fence = f
		}
	}
	p.directives = append(p.directives, d)
	return end
}

func (p *page) hide(from, to int) {
	for i := from; i <= to; i++ {
		p.hidden[i] = true
	}
}
