// Reading a page: its headings, blocks, directives and links.

package book

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"

	"example.com/informer/scripts/harness/markdown"
)

// page is one Markdown file, taken apart. All lines are counted from 0.
type page struct {
	name       string // slash-separated, from the workspace root
	source     []byte
	lines      []string         // of the source, without their newlines
	headings   []string         // of the first two levels
	anchors    markdown.Anchors // the fragments that lead into the page
	directives []*directive
	links      []link
	problems   []Problem // what is wrong with blocks and directives
}

// link is a link or an image.
type link struct {
	line                int
	text, target, title string
}

func parsePage(name string, source []byte) *page {
	p := &page{name: name, source: source, lines: strings.Split(string(source), "\n"), anchors: markdown.Anchors{}}
	_ = ast.Walk(markdown.Parse(source), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			p.read(n)
		}
		return ast.WalkContinue, nil
	})
	return p
}

// linksTo says whether a page has a link to another, or is it.
func (p *page) linksTo(name string) bool {
	return name == p.name || name == "README.md" || slices.ContainsFunc(p.links, func(l link) bool {
		target, _, _ := strings.Cut(l.target, "#")
		return path.Join(path.Dir(p.name), target) == name
	})
}

// line returns the line that the byte at offset is in.
func (p *page) line(offset int) int { return bytes.Count(p.source[:offset], []byte("\n")) }

// problem is what is wrong at line i.
func (p *page) problem(i int, format string, args ...any) Problem {
	return Problem{Page: p.name, Line: i + 1, Text: fmt.Sprintf(format, args...)}
}

func (p *page) complain(i int, format string, args ...any) {
	p.problems = append(p.problems, p.problem(i, format, args...))
}

// read takes in n, without what is inside it.
func (p *page) read(n ast.Node) {
	switch n := n.(type) {
	case *ast.Heading:
		text := p.shown(n)
		p.anchors.Add(text)
		if n.Level == 1 {
			p.headings = append(p.headings, "# Name of the chapter") // any will do
		} else if n.Level == 2 {
			p.headings = append(p.headings, "## "+text)
		}
	case *ast.FencedCodeBlock:
		p.readFence(n)
	case *ast.CodeBlock:
		p.complain(p.line(n.Pos()), "no code or output is typed into a page, not by indenting it either: embed it")
	case *ast.HTMLBlock:
		p.readHTMLBlock(n)
	case *ast.RawHTML:
		p.readTags(p.line(n.Pos()), string(n.Segments.Value(p.source)))
	case *ast.Link:
		p.links = append(p.links, link{p.line(n.Pos()), p.shown(n), string(n.Destination), string(n.Title)})
	case *ast.Image:
		p.links = append(p.links, link{p.line(n.Pos()), p.shown(n), string(n.Destination), string(n.Title)})
	case *ast.AutoLink:
		if n.AutoLinkType == ast.AutoLinkURL {
			p.links = append(p.links, link{line: p.line(n.Pos()), target: string(n.URL(p.source))})
		}
	case *ast.Text:
		if t := string(n.Value(p.source)); !n.IsRaw() && nonLink.MatchString(t) {
			p.complain(p.line(n.Segment.Start), "…%s… is no link: write [text](target) without spaces in the target, "+
				"or add a line [label]: target, or put it in backquotes", t)
		}
	}
}

// nonLink matches the middle of what looks like a link, where Markdown saw none.
var nonLink = regexp.MustCompile(`\](\(|\[)`)

// shown returns the text inside n, without markup.
func (p *page) shown(n ast.Node) string {
	var out strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && entering {
			out.Write(t.Value(p.source))
			if t.SoftLineBreak() {
				out.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return out.String()
}

// typed are the languages of blocks that a person writes: pictures, commands
// to type, small edits to try, and lines of a log, which docs/lab/fieldguide looks for.
var typed = map[string]bool{"mermaid": true, "sh": true, "diff": true, "log": true}

var (
	fenceOpen  = regexp.MustCompile("^(```|~~~)")
	fenceClose = regexp.MustCompile("^[ \t>]*(`{3,}|~{3,})[ \t\r]*$")
)

// readFence gives a block to the directive on the line before. Without one, it
// is a block that a person may type.
func (p *page) readFence(n *ast.FencedCodeBlock) {
	start, lang := p.line(n.Pos()), string(n.Language(p.source))
	end := start + 1 + n.Lines().Len()
	if end >= len(p.lines) || !fenceClose.MatchString(p.lines[end]) {
		p.complain(start, "this %s block is never closed", p.source[n.Pos():n.Pos()+3])
		end = len(p.lines) - 1
	}
	above := len(p.directives) - 1
	if above >= 0 && p.directives[above].line+1 == start && fenceOpen.MatchString(p.lines[start]) {
		p.directives[above].start, p.directives[above].end, p.directives[above].lang = start, end+1, lang
	} else if lang == "sh" {
		p.readCommands(start+1, end)
	} else if !typed[lang] {
		p.complain(start, "no code or output is typed into a page: put <!-- code … --> or <!-- output … --> "+
			"on the line above this %q block (only mermaid, sh, diff and log are typed)", lang)
	}
}

// A kubectl in a command, and the same with the cluster that it is for.
var (
	shComment    = regexp.MustCompile(`(^|\s)#.*`)
	kubectl      = regexp.MustCompile(`(^|[\s/(|;&])kubectl(\s|$)`)
	namedKubectl = regexp.MustCompile(`(^|[\s/(|;&])kubectl --(kubeconfig \.cluster/kubeconfig|context YOURS)(\s|$)`)
)

// readCommands reads the lines of a block that a reader may paste into a terminal.
func (p *page) readCommands(start, end int) {
	for i, line := range p.lines[start:end] {
		line = shComment.ReplaceAllString(line, "")
		if len(kubectl.FindAllString(line, -1)) > len(namedKubectl.FindAllString(line, -1)) {
			p.complain(start+i, "this kubectl goes to whatever cluster is current: write "+
				"kubectl --kubeconfig .cluster/kubeconfig, or kubectl --context YOURS for a cluster of the reader's")
		}
	}
}

// readHTMLBlock reads comments, some of which are directives, and blocks of
// tags. Such a block lasts until a blank line: Markdown inside it is not seen.
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
		p.complain(start, "this <!-- comment is never closed")
	}
	if m := directiveForm.FindStringSubmatch(lines[0]); m != nil {
		p.directives = append(p.directives,
			&directive{line: start, text: m[1], verb: m[2], file: m[3], names: strings.Fields(m[4])})
	} else if directiveStart.MatchString(lines[0]) {
		p.complain(start, "%v", errForm)
	}
}

var tag = regexp.MustCompile(`<[a-zA-Z]\w*`)

func (p *page) readTags(line int, html string) {
	if directiveStart.MatchString(html) || strings.Contains(html, "```") {
		p.complain(line, "%v; leave a blank line between it, or a block, and HTML", errForm)
	}
	for _, tag := range tag.FindAllString(html, -1) {
		if tag != "<details" && tag != "<summary" && tag != "<br" {
			p.complain(line, "%s>: a link or a picture is Markdown here, and code is embedded; the only HTML is "+
				"<details>, <summary> and <br>", tag)
		}
	}
}
