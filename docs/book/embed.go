// Embedding: what a directive shows, and the page with all of it in place.

package book

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// languages are the fence languages by file extension; anything else is text.
var languages = map[string]string{
	".css":  "css",
	".go":   "go",
	".html": "html",
	".js":   "javascript",
	".json": "json",
	".md":   "markdown",
	".sh":   "sh",
	".yaml": "yaml",
	".yml":  "yaml",
}

func (d directive) language() string {
	if lang, ok := languages[path.Ext(d.file)]; ok && d.verb == "code" {
		return lang
	}
	return "text"
}

// render returns the text of the page with every block as its source has it,
// and the blocks that were not so. With a broken directive, or a block that
// nobody owns, it says what is broken and returns the page as it is.
func (b *Book) render(p *page) (text string, stale, broken []Problem) {
	broken = append(p.checkBlocks(), p.problems...)
	var out []string
	done := 0 // lines of p that are in out, or replaced
	for _, d := range p.directives {
		block, err := b.block(d)
		if err != nil {
			broken = append(broken, p.problem(d.line, "%v", err))
			continue
		}
		out = append(out, p.lines[done:d.line+1]...)
		out = append(out, block...)
		done = d.line + 1
		var old []string
		if d.fence != nil {
			done = d.fence.end + 1
			old = p.lines[d.fence.start:done]
		}
		if !slices.Equal(old, block) {
			stale = append(stale, p.problem(d.line, "the block below is not what `%s` gives: `go run ./docs` brings the page back in step", d))
		}
	}
	if len(broken) > 0 {
		return p.text(), nil, broken
	}
	out = append(out, p.lines[done:]...)
	return strings.Join(out, "\n"), stale, nil
}

// block returns the lines of the fenced block that d stands for.
func (b *Book) block(d directive) ([]string, error) {
	if d.err != nil {
		return nil, d.err
	}
	if f := d.fence; f != nil && typed[f.lang] && f.lang != d.language() {
		return nil, fmt.Errorf("the %s block below would be replaced by `%s`: leave a blank line between the two", f.lang, d)
	}
	content, err := b.content(d)
	if err != nil {
		return nil, err
	}
	marker := fenceFor(content)
	lines := []string{marker + d.language()}
	lines = append(lines, strings.Split(content, "\n")...)
	return append(lines, marker), nil
}

// content returns what d shows, without newlines at its end.
func (b *Book) content(d directive) (string, error) {
	source, err := b.readSource(d.file)
	if err != nil {
		return "", err
	}
	content := string(source)
	if len(d.names) > 0 {
		if content, err = declarations(d.file, source, d.names); err != nil {
			return "", err
		}
	}
	if content = strings.TrimRight(content, "\n"); content == "" {
		return "", fmt.Errorf("%s is empty: there is nothing to show", d.file)
	}
	return content, nil
}

func (b *Book) readSource(file string) ([]byte, error) {
	source, err := fs.ReadFile(b.ws, file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no file %s (paths start at the workspace root)", file)
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	return source, nil
}

var backquotes = regexp.MustCompile("`{3,}")

// fenceFor returns a fence that nothing in content closes.
func fenceFor(content string) string {
	marker := "```"
	for _, run := range backquotes.FindAllString(content, -1) {
		if len(run) >= len(marker) {
			marker = run + "`"
		}
	}
	return marker
}
