// Embedding: directives, the blocks that they stand for, and the page with these blocks.

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

// directive is one of
//
//	<!-- code FILE [NAME…] -->
//	<!-- output FILE -->
//
// alone on its line, from the first column. The fenced block on the next line belongs to the
// directive, and Rewrite replaces it. If there is no such block, Rewrite adds it.
type directive struct {
	line       int
	text       string   // without the marks of the comment
	verb       string   // code or output
	file       string   // slash-separated, from the workspace root
	names      []string // the declarations to show; none for the whole file
	start, end int      // the lines of the block with its two fences; both are 0 if there is no block yet
	lang       string   // the language of the block
}

var (
	directiveStart = regexp.MustCompile(`<!--\s*(code|output)\b`)
	directiveForm  = regexp.MustCompile(`^<!--\s*((code|output)\s+([^\s<>]+)((?:\s+[\pL_][\pL\pN_.]*)*))\s*-->\s*$`)

	errForm = errors.New("a directive stands alone on its line, from the first column: " +
		"write <!-- code FILE NAME… --> or <!-- output FILE -->")
)

// render returns the text of the page with up-to-date blocks, and a problem for each block that was
// stale. If a directive is broken, or if code was typed into the page, render returns these
// problems and the unchanged text.
func (b *Book) render(p *page) (text string, stale, broken []Problem) {
	broken = slices.Clone(p.problems)
	var out []string
	done := 0 // the number of lines of p that are in out, or replaced
	for _, d := range p.directives {
		block, err := b.block(d)
		if err != nil {
			broken = append(broken, p.problem(d.line, "%v", err))
			continue
		}
		out = slices.Concat(out, p.lines[done:d.line+1], block)
		done = max(d.end, d.line+1)
		if !slices.Equal(p.lines[d.start:d.end], block) {
			stale = append(stale, p.problem(d.line,
				"the block below is not what `%s` gives: `go run ./docs` brings the page back in step", d.text))
		}
	}
	if len(broken) > 0 {
		return string(p.source), nil, broken
	}
	return strings.Join(append(out, p.lines[done:]...), "\n"), stale, nil
}

// sourceLang returns the language of a block with the contents of the file: the extension of the
// file, as on GitHub.
func (d *directive) sourceLang() string {
	lang := strings.TrimPrefix(path.Ext(d.file), ".")
	if lang == "" || lang == "txt" {
		return "text"
	}
	return lang
}

// check finds directives that have the right form, and still make no sense.
func (d *directive) check() error {
	dir, ext := path.Dir(d.file), path.Ext(d.file)
	isOutput := ext == ".txt" && (path.Base(dir) == "testdata" || path.Dir(dir) == "docs/lab")
	switch {
	case d.verb == "output" && len(d.names) > 0:
		return errForm
	case d.verb == "output" && !isOutput:
		return fmt.Errorf("%s is not an output: "+
			"those are expected, in testdata/*.txt, or measured, in docs/lab/*/*.txt", d.file)
	case len(d.names) > 0 && ext != ".go":
		return fmt.Errorf("%s is not a Go file: it is embedded whole, name nothing in it", d.file)
	case typed[d.lang] && d.lang != d.sourceLang():
		return fmt.Errorf("the %s block below would be replaced by `%s`: "+
			"leave a blank line between the two", d.lang, d.text)
	}
	return nil
}

// block returns the lines of the fenced block that d stands for.
func (b *Book) block(d *directive) ([]string, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	source, err := fs.ReadFile(b.ws, d.file)
	if err != nil {
		return nil, fmt.Errorf("%w (paths start at the workspace root)", err)
	}
	content := string(source)
	if len(d.names) > 0 {
		content, err = declarations(d.file, source, d.names)
		if err != nil {
			return nil, err
		}
	}
	content = strings.TrimRight(content, "\n")
	if content == "" {
		return nil, fmt.Errorf("%s is empty: there is nothing to show", d.file)
	}
	marker := "```"
	for strings.Contains(content, marker) {
		marker += "`"
	}
	return slices.Concat([]string{marker + d.sourceLang()}, strings.Split(content, "\n"), []string{marker}), nil
}
