// Reading a page: its headings, blocks, directives and links.

package book

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	extension "github.com/yuin/goldmark/extension/ast"

	"example.com/informer/scripts/harness/markdown"
)

// page is one parsed Markdown file. All line numbers count from 0.
type page struct {
	name       string // slash-separated, from the workspace root
	source     []byte
	lines      []string         // of the source, without their newlines
	headings   []heading        // in the order of the page
	anchors    markdown.Anchors // the fragments that lead to a heading of the page
	directives []*directive
	figures    []figure
	links      []link
	spans      []span    // of code
	problems   []Problem // of blocks and directives
	details    int       // how many <details> are open at the node that is read

	texts []counted // outside of blocks
}

// counted is a text whose words are counted.
type counted struct {
	line, words int
	inTable     bool
}

// heading is a heading of any level.
type heading struct {
	line, level int
	text        string
	anchor      string // the fragment that leads to it
}

// span is a piece of code inside of a sentence.
type span struct {
	line int
	text string
}

// link is a link or an image.
type link struct {
	line                int
	text, target, title string
}

func parsePage(name string, source []byte) *page {
	p := &page{name: name, source: source, lines: strings.Split(string(source), "\n"), anchors: markdown.Anchors{}}
	for i, line := range p.lines {
		if !utf8.ValidString(line) {
			p.addProblem(i, "this line is not valid UTF-8")
		}
	}
	_ = ast.Walk(markdown.Parse(source), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			p.read(n)
		}
		return ast.WalkContinue, nil
	})
	return p
}

// linksTo reports whether the page has a link to the page of this name.
func (p *page) linksTo(name string) bool {
	return slices.ContainsFunc(p.links, func(l link) bool {
		target, _, _ := strings.Cut(l.target, "#")
		return path.Join(path.Dir(p.name), target) == name
	})
}

// line returns the line of the byte at offset.
func (p *page) line(offset int) int { return bytes.Count(p.source[:offset], []byte("\n")) }

// problem returns a problem of a line.
func (p *page) problem(line int, format string, args ...any) Problem {
	return Problem{Page: p.name, Line: line + 1, Text: fmt.Sprintf(format, args...)}
}

// addProblem adds a problem of a line to those of the page.
func (p *page) addProblem(line int, format string, args ...any) {
	p.problems = append(p.problems, p.problem(line, format, args...))
}

func (p *page) addLink(at ast.Node, target, title []byte) {
	p.links = append(p.links,
		link{line: p.line(at.Pos()), text: p.plainText(at), target: string(target), title: string(title)})
}

// read reads a node, but not the nodes below it.
func (p *page) read(n ast.Node) {
	switch n := n.(type) {
	case *ast.Heading:
		text := p.plainText(n)
		p.headings = append(p.headings,
			heading{line: p.line(n.Pos()), level: n.Level, text: text, anchor: p.anchors.Add(text)})
		p.countWords(n, false)
	case *ast.Paragraph, *ast.TextBlock:
		p.countWords(n, false)
	case *extension.TableCell:
		p.countWords(n, true)
	case *ast.FencedCodeBlock:
		p.readFence(n)
	case *ast.CodeBlock:
		p.addProblem(p.line(n.Pos()), "no code or output is typed into a page, not by indenting it either: embed it")
	case *ast.HTMLBlock:
		p.readHTMLBlock(n)
	case *ast.RawHTML:
		html := string(n.Segments.Value(p.source))
		p.readTags(p.line(n.Pos()), html)
		p.readFigure(html, n.Segments.At(n.Segments.Len()-1).Stop)
	case *ast.CodeSpan:
		p.spans = append(p.spans, span{line: p.line(n.Pos()), text: p.plainText(n)})
	case *ast.Link:
		p.addLink(n, n.Destination, n.Title)
	case *ast.Image:
		p.addLink(n, n.Destination, n.Title)
	case *ast.AutoLink:
		if n.AutoLinkType == ast.AutoLinkURL {
			p.links = append(p.links, link{line: p.line(n.Pos()), target: string(n.URL(p.source))})
		}
	case *ast.Text:
		text := string(n.Value(p.source))
		if !n.IsRaw() && brokenLink.MatchString(text) {
			p.addProblem(p.line(n.Segment.Start), "…%s… is not a link: "+
				"write [text](target) without spaces in the target, "+
				"or add a line [label]: target, or put it in backquotes", text)
		}
	}
}

// brokenLink matches the middle of a link. Where the parser leaves it as text, the link is
// malformed.
var brokenLink = regexp.MustCompile(`\](\(|\[)`)

func (p *page) countWords(n ast.Node, inTable bool) {
	p.texts = append(p.texts, counted{p.line(n.Pos()), len(strings.Fields(p.plainText(n))), inTable})
}

// plainText returns the text inside n, without markup.
func (p *page) plainText(n ast.Node) string { return markdown.PlainText(n, p.source) }

// typed are the languages of blocks that people write into a page: pictures, commands, small edits
// to try, and log lines, which docs/lab/fieldguide checks.
var typed = map[string]bool{"mermaid": true, "sh": true, "diff": true, "log": true}

var (
	fenceOpen  = regexp.MustCompile("^(```|~~~)")
	fenceClose = regexp.MustCompile("^[ \t>]*(`{3,}|~{3,})[ \t\r]*$")
)

// readFence assigns a block to the directive above it. A block without a directive must be in a
// language that people may write into a page.
func (p *page) readFence(n *ast.FencedCodeBlock) {
	start, lang := p.line(n.Pos()), string(n.Language(p.source))
	end := start + 1 + n.Lines().Len()
	if end >= len(p.lines) || !fenceClose.MatchString(p.lines[end]) {
		p.addProblem(start, "this %s block is never closed", p.source[n.Pos():n.Pos()+3])
		end = len(p.lines) - 1
	}
	switch owner := p.lastDirective(); {
	case owner != nil && owner.line+1 == start && fenceOpen.MatchString(p.lines[start]):
		owner.start, owner.end, owner.lang = start, end+1, lang
	case owner != nil && owner.line+3 == start && p.isFolded(start, end):
		owner.start, owner.end, owner.lang, owner.isFolded = start-2, end+3, lang, true
	case lang == "sh":
		p.readCommands(start+1, end)
	case lang == "mermaid" && Describe(string(n.Lines().Value(p.source))) == "":
		p.addProblem(start, "this diagram does not say in words what one sees: "+
			"put accDescr { … } below its first line, as other diagrams do")
	case !typed[lang]:
		p.addProblem(start, "no code or output is typed into a page: put <!-- code … --> or <!-- output … --> "+
			"on the line above this %q block (only mermaid, sh, diff and log are typed)", lang)
	}
}

// lastDirective returns the last directive that was read, or nil.
func (p *page) lastDirective() *directive {
	if len(p.directives) == 0 {
		return nil
	}
	return p.directives[len(p.directives)-1]
}

// isFolded reports whether the lines around a block are those around a folded block.
func (p *page) isFolded(start, end int) bool {
	return fenceOpen.MatchString(p.lines[start]) &&
		strings.HasPrefix(p.lines[start-2], detailsStart) && p.lines[start-1] == "" &&
		end+2 < len(p.lines) && p.lines[end+1] == "" && p.lines[end+2] == detailsEnd
}

var (
	shComment    = regexp.MustCompile(`(^|\s)#.*`)
	kubectl      = regexp.MustCompile(`(^|[\s/(|;&])kubectl(\s|$)`)
	namedKubectl = regexp.MustCompile(`(^|[\s/(|;&])kubectl --(kubeconfig \.cluster/kubeconfig|context YOURS)(\s|$)`)
)

// readCommands checks that each kubectl in a block of commands names its cluster: a reader may
// paste the block into a terminal.
func (p *page) readCommands(start, end int) {
	for i, line := range p.lines[start:end] {
		line = shComment.ReplaceAllString(line, "")
		if len(kubectl.FindAllString(line, -1)) > len(namedKubectl.FindAllString(line, -1)) {
			p.addProblem(start+i, "this kubectl goes to whatever cluster is current: write "+
				"kubectl --kubeconfig .cluster/kubeconfig, or kubectl --context YOURS for a cluster of the reader's")
		}
	}
}

// readHTMLBlock reads a comment, which may be a directive, or a block of tags. A block of tags
// lasts until a blank line, and Markdown does not parse the text inside it.
func (p *page) readHTMLBlock(n *ast.HTMLBlock) {
	if n.HasClosure() {
		n.Lines().Append(n.ClosureLine)
	}
	start := p.line(n.Pos())
	lines := p.lines[start : start+n.Lines().Len()]
	if n.HTMLBlockType != ast.HTMLBlockType2 {
		p.readTags(start, strings.Join(lines, "\n"))
		return
	}
	if !strings.Contains(lines[len(lines)-1], "-->") {
		p.addProblem(start, "this <!-- comment is never closed")
	}
	d := parseDirective(start, lines[0])
	switch {
	case d != nil:
		p.directives = append(p.directives, d)
	case directiveStart.MatchString(lines[0]):
		p.addProblem(start, "%v", errForm)
	case figureStart.MatchString(lines[0]):
		p.addProblem(start, "this line begins with a comment, so it is not text: begin it with a word")
	}
	if d != nil && p.details > 0 {
		p.addProblem(start, "code is folded in one way: write <!-- code FILE NAME…, folded: SUMMARY --> "+
			"in place of this directive and the <details> around it")
	}
}

var openTag = regexp.MustCompile(`<[a-zA-Z]\w*`)

// readTags checks that a piece of HTML has only the tags that are allowed, and neither a directive
// nor a block in it.
func (p *page) readTags(line int, html string) {
	if directiveStart.MatchString(html) || strings.Contains(html, "```") {
		p.addProblem(line, "%v; leave a blank line between it, or a block, and HTML", errForm)
	}
	p.details += strings.Count(html, "<details") - strings.Count(html, detailsEnd)
	for _, tag := range openTag.FindAllString(html, -1) {
		if tag != "<details" && tag != "<summary" && tag != "<br" {
			p.addProblem(line, "%s>: a link or a picture is Markdown here, and code is embedded; the only HTML is "+
				"<details>, <summary> and <br>", tag)
		}
	}
}
