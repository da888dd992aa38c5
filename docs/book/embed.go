// Embedding: directives, the blocks that they stand for, and the page with these blocks.

package book

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// directive is one of
//
//	<!-- code FILE [NAME…] -->
//	<!-- code FILE [NAME…], folded -->
//	<!-- code FILE [NAME…], folded: WHAT A READER SEES OF IT -->
//	<!-- output FILE -->
//
// alone on its line, from the first column. The fenced block on the next line belongs to the
// directive, and Rewrite replaces it. If there is no such block, Rewrite adds it. Rewrite puts a
// folded block into <details>.
type directive struct {
	line       int
	text       string   // without the marks of the comment
	verb       string   // code or output
	file       string   // slash-separated, from the workspace root
	names      []string // the declarations to show; none for the whole file
	folded     bool     // the reader opens the block
	summary    string   // what a reader sees of a folded block; "" for a text that fits the file
	start, end int      // the lines of the block, from fence to fence or with its <details>; 0 if there is none yet
	isFolded   bool     // the block on the page is in <details>
	lang       string   // the language of the block
}

var (
	directiveStart = regexp.MustCompile(`<!--\s*(code|output)\b`)
	directiveForm  = regexp.MustCompile(`^<!--\s*((code|output)\s+([^\s<>,]+)((?:\s+[\pL_][\pL\pN_.]*)*)` +
		`(,\s*folded(?::\s*([^<>]+?))?)?)\s*-->\s*$`)

	errForm = errors.New("a directive stands alone on its line, from the first column: " +
		"write <!-- code FILE NAME… -->, <!-- code FILE NAME…, folded --> or <!-- output FILE -->")
)

// parseDirective returns the directive on a line, or nil.
func parseDirective(line int, text string) *directive {
	m := directiveForm.FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	return &directive{line: line, text: m[1], verb: m[2], file: m[3], names: strings.Fields(m[4]),
		folded: m[5] != "", summary: m[6]}
}

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
	case d.verb == "output" && (len(d.names) > 0 || d.folded):
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

// summaryText returns what a reader sees of a folded block.
func (d *directive) summaryText() string {
	step, isStep := strings.CutPrefix(strings.TrimSuffix(path.Base(d.file), ".go"), "step_")
	switch {
	case d.summary != "":
		return d.summary
	case isStep:
		return "The code of " + step
	default:
		return "The code: " + cmp.Or(strings.Join(d.names, ", "), path.Base(d.file))
	}
}

// codeLines returns how many lines the block on the page has, without its fences and its <details>.
func (d *directive) codeLines() int {
	around := 2 // the fences
	if d.isFolded {
		around += 4
	}
	return max(0, d.end-d.start-around)
}

// content returns what d stands for, without a newline at its end.
func (b *Book) content(d *directive) (string, error) {
	if err := d.check(); err != nil {
		return "", err
	}
	source, err := b.readFile(d.file)
	if err != nil {
		return "", fmt.Errorf("%w (paths start at the workspace root)", err)
	}
	content := string(source)
	if len(d.names) > 0 {
		content, err = declarations(d.file, source, d.names)
		if err != nil {
			return "", err
		}
	}
	content = strings.TrimRight(content, "\n")
	if content == "" {
		return "", fmt.Errorf("%s is empty: there is nothing to show", d.file)
	}
	return content, nil
}

// block returns the lines of the block that d stands for, with its fences.
func (b *Book) block(d *directive) ([]string, error) {
	content, err := b.content(d)
	if err != nil {
		return nil, err
	}
	marker := "```"
	for strings.Contains(content, marker) {
		marker += "`"
	}
	block := slices.Concat([]string{marker + d.sourceLang()}, strings.Split(content, "\n"), []string{marker})
	if d.folded {
		summary := detailsStart + d.summaryText() + "</summary>"
		block = slices.Concat([]string{summary, ""}, block, []string{"", detailsEnd})
	}
	return block, nil
}

// The lines around a folded block. There is a blank line between them and the block.
const (
	detailsStart = "<details><summary>"
	detailsEnd   = "</details>"
)
