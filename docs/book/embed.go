// Embedding: what a directive shows, and the page with all of it in place.

package book

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// render returns the text of the page with every block as its source has it,
// and the blocks that were not so. With a broken directive, or a block that
// nobody owns, it says what is broken and returns the page as it is.
func (b *Book) render(p *page) (text string, stale, broken []Problem) {
	broken = slices.Clone(p.problems)
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
			stale = append(stale, p.problem(d.line,
				"the block below is not what `%s` gives: `go run ./docs` brings the page back in step", d.text))
		}
	}
	if len(broken) > 0 {
		return string(p.source), nil, broken
	}
	out = append(out, p.lines[done:]...)
	return strings.Join(out, "\n"), stale, nil
}

// block returns the lines of the fenced block that d stands for.
func (b *Book) block(d *directive) ([]string, error) {
	if d.err != nil {
		return nil, d.err
	}
	if f := d.fence; f != nil && typed[f.lang] && f.lang != d.language() {
		return nil, fmt.Errorf("the %s block below would be replaced by `%s`: "+
			"leave a blank line between the two", f.lang, d.text)
	}
	source, err := fs.ReadFile(b.ws, d.file)
	if err != nil {
		return nil, fmt.Errorf("%w (paths start at the workspace root)", err)
	}
	content := string(source)
	if len(d.names) > 0 {
		if content, err = declarations(d.file, source, d.names); err != nil {
			return nil, err
		}
	}
	if content = strings.TrimRight(content, "\n"); content == "" {
		return nil, fmt.Errorf("%s is empty: there is nothing to show", d.file)
	}
	marker := "```"
	for strings.Contains(content, marker) {
		marker += "`"
	}
	return slices.Concat([]string{marker + d.language()}, strings.Split(content, "\n"), []string{marker}), nil
}
