// From Markdown to HTML.

package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"html/template"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	goldmarkrenderer "github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"

	"example.com/informer/docs/book"
	"example.com/informer/scripts/harness/markdown"
)

// A heading is an entry of the contents of a page.
type heading struct{ Text, Anchor string }

// page renders a page of the book, or another Markdown file.
func (r *reader) page(name, version string, source []byte) *pageData {
	p := r.newPageRenderer(source)
	if err := r.library.read(func(b *book.Book) { p.blocks = b.Blocks(name) }); err != nil {
		panic(err)
	}
	tree := markdown.Parse(source)
	r.addExercises(name, tree, source)
	anchors := markdown.Anchors{}
	data := &pageData{Name: name, Version: version, Title: name}
	_ = ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		h, ok := n.(*ast.Heading)
		if !ok || !entering {
			return ast.WalkContinue, nil
		}
		text := markdown.PlainText(h, source)
		anchor := anchors.Add(text)
		h.SetAttributeString("id", []byte(anchor))
		switch h.Level {
		case 1:
			data.Title = text
		case 2:
			data.Headings = append(data.Headings, heading{text, anchor})
		}
		return ast.WalkSkipChildren, nil
	})
	data.Body, data.HasSteps = p.render(tree), p.hasSteps
	return data
}

// sectionAt returns the anchor of the section that has a line of a page, or "" if there is none.
func sectionAt(source []byte, line int) (anchor string) {
	anchors := markdown.Anchors{}
	_ = ast.Walk(markdown.Parse(source), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if h, ok := n.(*ast.Heading); ok && entering {
			added := anchors.Add(markdown.PlainText(h, source))
			if bytes.Count(source[:h.Pos()], []byte("\n")) < line {
				anchor = added
			}
		}
		return ast.WalkContinue, nil
	})
	return anchor
}

// render renders a page, or a part of it.
func (p *pageRenderer) render(tree ast.Node) template.HTML {
	var text bytes.Buffer
	nodes := goldmarkrenderer.WithNodeRenderers(util.Prioritized(p, 100))
	if err := markdown.New(goldmark.WithRendererOptions(nodes)).Renderer().Render(&text, p.source, tree); err != nil {
		panic(err) // it never fails: it writes to memory
	}
	return template.HTML(text.String())
}

// hasFile reports whether the workspace has a file that may be shown.
func (r *reader) hasFile(name string) bool {
	if !r.sources.allows(name) {
		return false
	}
	info, err := book.Stat(r.root.FS(), name)
	return err == nil && info.Mode().IsRegular()
}

var svgWidth = regexp.MustCompile(`^<svg[^>]* width="(\d+)"`)

// pictureWidth returns the width of a picture of a diagram, or 0 if there is no such picture.
func (r *reader) pictureWidth(name string) int {
	text, err := r.read(name)
	match := svgWidth.FindSubmatch(text)
	if err != nil || match == nil {
		return 0
	}
	width, _ := strconv.Atoi(string(match[1])) // 0 if it is too large
	return width
}

// A pageRenderer renders the nodes of a page that goldmark would render in another way.
type pageRenderer struct {
	source   []byte
	blocks   []book.Block
	widthOf  func(picture string) int
	findStep func(transcript string) (step, bool)
	findPage func(commands string) (step, bool)
	hasSteps bool // one was rendered
}

func (r *reader) newPageRenderer(source []byte) *pageRenderer {
	return &pageRenderer{source: source, widthOf: r.pictureWidth, findStep: r.findStep, findPage: r.findPage}
}

// RegisterFuncs implements goldmark's renderer.NodeRenderer.
func (p *pageRenderer) RegisterFuncs(r goldmarkrenderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindHeading, p.heading)
	r.Register(ast.KindLink, p.link)
	r.Register(ast.KindFencedCodeBlock, p.fence)
	r.Register(ast.KindHTMLBlock, p.htmlBlock)
	r.Register(ast.KindRawHTML, p.rawHTML)
	r.Register(kindExercise, renderExercise)
}

func (p *pageRenderer) heading(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	h := n.(*ast.Heading)
	id, _ := h.AttributeString("id")
	anchor := template.HTMLEscapeString(string(id.([]byte)))
	if entering {
		fmt.Fprintf(w, `<h%d id="%s">`, h.Level, anchor)
		return ast.WalkContinue, nil
	}
	fmt.Fprintf(w, ` <a class="anchor" href="#%s" aria-label="A link to this section">#</a></h%d>`+"\n",
		anchor, h.Level)
	return ast.WalkContinue, nil
}

// identifier matches the name of a test, or of another declaration.
var identifier = regexp.MustCompile(`^[A-Z]\w*$`)

// link renders a link. A link to a Go file shows the declaration that the link names.
func (p *pageRenderer) link(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		_, _ = w.WriteString("</a>")
		return ast.WalkContinue, nil
	}
	l := n.(*ast.Link)
	target, title, text := string(l.Destination), string(l.Title), markdown.PlainText(n, p.source)
	class, rest := "", ""
	switch {
	case strings.HasPrefix(target, "http://"), strings.HasPrefix(target, "https://"):
		class, rest = "external", ` target="_blank" rel="noopener noreferrer"`
	case strings.Contains(target, ":"):
		target = "" // no javascript:
	case path.Ext(target) == ".go":
		class = "source"
		if text == "✓" {
			class = "source claim"
		}
		for _, name := range []string{title, text} {
			name, _, _ := strings.Cut(name, "/") // the name of a subtest follows
			if identifier.MatchString(name) {
				target += "?show=" + name
				break
			}
		}
	case path.Ext(strings.Split(target, "#")[0]) != ".md" && target != "" && target[0] != '#':
		class = "source"
	}
	if title != "" {
		rest += fmt.Sprintf(` title="%s"`, template.HTMLEscapeString(title))
	}
	address := template.HTMLEscapeString(string(util.URLEscape([]byte(target), true)))
	fmt.Fprintf(w, `<a href="%s" class="%s"%s>`, address, class, rest)
	return ast.WalkContinue, nil
}

// isStart matches a block that says how to start the reading room.
var isStart = regexp.MustCompile(`^scripts/read\.sh\b.*\n$`)

// fence renders a block. Who sees this page has started the reading room.
func (p *pageRenderer) fence(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	block := n.(*ast.FencedCodeBlock)
	text, lang := string(block.Lines().Value(source)), string(block.Language(source))
	if isStart.MatchString(text) {
		return ast.WalkSkipChildren, nil
	}
	line := bytes.Count(source[:n.Pos()], []byte("\n"))
	i := slices.IndexFunc(p.blocks, func(b book.Block) bool { return b.Line == line })
	data := figure{Lang: lang}
	switch picture := book.DiagramFile(text); {
	case i >= 0:
		data = embeddedFigure(p.blocks[i], lang)
		if s, ok := p.findStep(data.File); ok && data.IsOutput {
			data.Run, data.Page, data.Steps = s.transcript, s.page, s.hasCommands
		}
	case lang == "mermaid" && p.widthOf(picture) > 0:
		data = figure{Picture: "/" + picture, Alt: book.Describe(text), Width: p.widthOf(picture)}
	default:
		data.Text, data.Copies = highlight(lang, text, nil), lang != "log"
		if s, ok := p.findPage(text); ok {
			data.Run, data.Page, data.Follows = s.transcript, s.page, true
		}
	}
	p.hasSteps = p.hasSteps || data.Run != ""
	data.Hash = fmt.Sprintf("%.6x", sha256.Sum256([]byte(fmt.Sprint(data))))
	return ast.WalkSkipChildren, templates.ExecuteTemplate(w, "figure.html", data)
}

// A figure is a block of code, an output, or a diagram.
type figure struct {
	Lang       string
	Hash       string        // differs if the block does
	Text       template.HTML // highlighted
	File, Link string        // of a block that shows a part of a file
	Names      string
	IsOutput   bool
	Copies     bool   // it has commands, or code
	Run        string // the transcript of the step that it can run
	Steps      bool   // the step can wait before each command
	Page       string // the path of the web page that the step serves
	Follows    bool   // it runs the step until it is stopped, for the sake of its page
	Changed    bool
	Problem    string
	Difference template.HTML
	Picture    string // of a diagram
	Alt        string
	Width      int
}

// commandLine matches a command of a transcript that a shell understands.
var commandLine = regexp.MustCompile(`(?m)^\$ `)

// embeddedFigure returns the figure of a block that shows a part of a file.
func embeddedFigure(b book.Block, lang string) figure {
	f := figure{Lang: lang, File: b.File, Link: "/" + b.File, IsOutput: b.IsOutput, Names: strings.Join(b.Names, ",")}
	if f.Names != "" {
		f.Link += "?show=" + f.Names
	}
	text := b.Now
	switch {
	case b.Err != nil:
		text, f.Problem = b.Printed, b.Err.Error()
	case b.Now != b.Printed:
		f.Changed, f.Difference = true, difference(b.Printed, b.Now)
	}
	if b.IsOutput {
		f.Text, f.Copies = transcript(text+"\n"), commandLine.MatchString(text)
	} else {
		f.Text, f.Copies = highlight(lang, text+"\n", newLines(b.Printed, text)), true
	}
	return f
}

// allowedTag matches the tags that a page may have: see docs/book.
var allowedTag = regexp.MustCompile(`^</?(details|summary|br)( open)?/?>$`)

var tagOrComment = regexp.MustCompile(`(?s)<!--.*?(-->|$)|<[^>]*>`)

// clean returns HTML of a page without comments, and with all tags escaped that a page may not have.
func clean(html []byte) []byte {
	return tagOrComment.ReplaceAllFunc(html, func(tag []byte) []byte {
		switch {
		case bytes.HasPrefix(tag, []byte("<!--")):
			return nil
		case allowedTag.Match(tag):
			return tag
		}
		return []byte(template.HTMLEscapeString(string(tag)))
	})
}

func (p *pageRenderer) htmlBlock(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		block := n.(*ast.HTMLBlock)
		text := block.Lines().Value(source)
		if block.HasClosure() {
			text = append(slices.Clone(text), block.ClosureLine.Value(source)...)
		}
		_, _ = w.Write(clean(text))
	}
	return ast.WalkContinue, nil
}

func (p *pageRenderer) rawHTML(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		_, _ = w.Write(clean(n.(*ast.RawHTML).Segments.Value(source)))
	}
	return ast.WalkSkipChildren, nil
}
