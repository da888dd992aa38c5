// Reading a page: its headings, blocks, directives and links.

package book

import (
	"bytes"
	"fmt"
	"html"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"example.com/informer/scripts/harness/markdown"
)

// page is one Markdown file, taken apart. All lines are counted from 0.
type page struct {
	name       string // slash-separated, from the workspace root
	source     []byte
	lines      []string // of the source, without their newlines
	headings   []heading
	anchors    markdown.Anchors // the fragments that lead into the page
	directives []*directive
	links      []link
	problems   []Problem // what is wrong with blocks and directives
}

type heading struct {
	line  int
	level int
	text  string // as shown
}

// fence is a fenced block that a directive owns, with its two fences.
type fence struct {
	start, end int
	lang       string
}

// link is a link or an image. In HTML it has a target alone.
type link struct {
	line   int
	text   string // as shown
	target string
	title  string
	err    error // why it is no link, for what only looks like one
}

func parsePage(name string, source []byte) *page {
	p := &page{name: name, source: source, lines: strings.Split(string(source), "\n"), anchors: markdown.Anchors{}}
	p.read(markdown.Parse(source))
	return p
}

// line returns the line that the byte at offset is in.
func (p *page) line(offset int) int { return bytes.Count(p.source[:offset], []byte("\n")) }

// problem notes what is wrong at line i.
func (p *page) problem(i int, format string, args ...any) Problem {
	return Problem{Page: p.name, Line: i + 1, Text: fmt.Sprintf(format, args...)}
}

func (p *page) complain(i int, format string, args ...any) {
	p.problems = append(p.problems, p.problem(i, format, args...))
}

// read takes in n and what is inside it.
func (p *page) read(n ast.Node) {
	switch n := n.(type) {
	case *ast.Heading:
		p.readHeading(n)
	case *ast.FencedCodeBlock:
		p.readFence(n)
	case *ast.CodeBlock:
		p.complain(p.line(n.Pos()), "no code or output is typed into a page, not by indenting it either: embed it")
	case *ast.HTMLBlock:
		p.readHTMLBlock(n)
	case *ast.RawHTML:
		p.readHTML(n.Segments)
	case *ast.Link:
		p.links = append(p.links, link{p.line(n.Pos()), p.shown(n), string(n.Destination), string(n.Title), nil})
	case *ast.Image:
		p.links = append(p.links, link{p.line(n.Pos()), p.shown(n), string(n.Destination), string(n.Title), nil})
	case *ast.AutoLink:
		if n.AutoLinkType == ast.AutoLinkURL {
			p.links = append(p.links, link{line: p.line(n.Pos()), target: string(n.URL(p.source))})
		}
	}
	if n.Type() == ast.TypeBlock && !n.IsRaw() && n.Lines().Len() > 0 {
		p.readNonLinks(n)
	}
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		p.read(c)
	}
}

func (p *page) readHeading(n *ast.Heading) {
	h := heading{line: p.line(n.Pos()), level: n.Level, text: p.shown(n)}
	p.headings = append(p.headings, h)
	p.anchors.Add(h.text)
}

// shown returns the text inside n, without markup and images.
func (p *page) shown(n ast.Node) string {
	var out strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			value := string(c.Value(p.source))
			if !c.IsRaw() { // in a code span, &amp; is just that
				value = html.UnescapeString(value)
			}
			out.WriteString(value)
			if c.SoftLineBreak() {
				out.WriteByte(' ')
			}
		case *ast.AutoLink:
			out.Write(c.Label(p.source))
		case *ast.Image:
		default:
			out.WriteString(p.shown(c))
		}
	}
	return out.String()
}

// typed are the languages of blocks that a person writes: pictures, commands
// to type, and small edits to try.
var typed = map[string]bool{"mermaid": true, "sh": true, "diff": true}

// readFence gives a block to the directive on the line before. Without one, it
// is a block that a person may type.
func (p *page) readFence(n *ast.FencedCodeBlock) {
	f := &fence{start: p.line(n.Pos()), lang: string(n.Language(p.source))}
	f.end = f.start + 1 + n.Lines().Len()
	if f.end >= len(p.lines) || !fenceClose.MatchString(p.lines[f.end]) {
		p.complain(f.start, "this %s block is never closed", p.source[n.Pos():n.Pos()+3])
		f.end = len(p.lines) - 1
	}
	above := len(p.directives) - 1
	if above >= 0 && p.directives[above].end+1 == f.start && fenceOpen.MatchString(p.lines[f.start]) {
		p.directives[above].fence = f
	} else if !typed[f.lang] {
		p.complain(f.start, "no code or output is typed into a page: put <!-- code … --> or <!-- output … --> "+
			"on the line above this %q block (only mermaid, sh and diff are typed)", f.lang)
	}
}

var (
	fenceOpen  = regexp.MustCompile("^(```|~~~)")
	fenceClose = regexp.MustCompile("^[ \t>]*(`{3,}|~{3,})[ \t\r]*$")
)

// readHTMLBlock reads comments, some of which are directives, and blocks of
// tags. Such a block lasts until a blank line: Markdown inside it is not seen.
func (p *page) readHTMLBlock(n *ast.HTMLBlock) {
	if n.HasClosure() {
		n.Lines().Append(n.ClosureLine)
	}
	start := p.line(n.Pos())
	end := start + n.Lines().Len() - 1
	if n.HTMLBlockType != ast.HTMLBlockType2 {
		for i := start; i <= end; i++ {
			if line := strings.TrimSpace(p.lines[i]); isDirective(line) || fenceOpen.MatchString(line) {
				p.complain(i,
					"leave a blank line after the HTML above: GitHub shows a block right below a tag as plain text")
				break
			}
		}
		p.readHTML(n.Lines())
		return
	}
	if !strings.Contains(p.lines[end], "-->") {
		p.complain(start, "this <!-- comment is never closed")
	}
	if isDirective(p.lines[start]) {
		d := parseDirective(p.lines[start])
		d.line, d.end = start, end
		p.directives = append(p.directives, d)
	}
}

var (
	htmlLink   = regexp.MustCompile(`<(?:a|img|source)\s[^>]*?\b(?:href|src|srcset)="([^"]*)"`)
	htmlAnchor = regexp.MustCompile(`<a\s[^>]*\b(?:id|name)="([^"]+)"`)
	preTag     = regexp.MustCompile(`(?i)<pre\b`)
)

func (p *page) readHTML(segments *text.Segments) {
	from := segments.At(0).Start
	tags := string(p.source[from:segments.At(segments.Len()-1).Stop])
	if strings.HasPrefix(tags, "<!--") {
		if isDirective(tags) {
			p.complain(p.line(from), "%v", errForm)
		}
		return
	}
	for _, m := range htmlLink.FindAllStringSubmatchIndex(tags, -1) {
		p.links = append(p.links, link{line: p.line(from + m[0]), target: tags[m[2]:m[3]]})
	}
	for _, m := range htmlAnchor.FindAllStringSubmatch(tags, -1) {
		p.anchors[m[1]] = true
	}
	if at := preTag.FindStringIndex(tags); at != nil {
		p.complain(p.line(from+at[0]), "no code or output is typed into a page, not in <pre> either: embed it")
	}
}

var (
	escaped = regexp.MustCompile(`\\[[:punct:]]`)
	nonLink = regexp.MustCompile(`\[[^\[\]]*\](\(|\[[^\[\]]*\])`)
)

// readNonLinks finds what looks like a link in the text of a block, where
// Markdown saw none.
func (p *page) readNonLinks(block ast.Node) {
	lines := block.Lines()
	from := lines.At(0).Start
	plain := make([]byte, lines.At(lines.Len()-1).Stop-from) // zero where the text is not plain
	_ = ast.Walk(block, func(n ast.Node, _ bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && !t.IsRaw() {
			copy(plain[t.Segment.Start-from:], p.source[t.Segment.Start:t.Segment.Stop])
		}
		return ast.WalkContinue, nil
	})
	plain = escaped.ReplaceAll(plain, []byte{0, 0})
	for _, at := range nonLink.FindAllIndex(plain, -1) {
		err := fmt.Errorf("%s… is no link: write [text](target) without spaces in the target, "+
			"or add a line [label]: target, or put it in backquotes", p.source[from+at[0]:from+at[1]])
		p.links = append(p.links, link{line: p.line(from + at[0]), err: err})
	}
}
