// Masking: the prose of a page alone, so that nothing in code looks like a link.

package book

import (
	"bytes"
	"regexp"
	"strings"
)

// blockStart matches lines that end the paragraph before them.
var blockStart = regexp.MustCompile(`^\s*(#{1,6}\s|[-*+]\s|\d{1,9}[.)]\s|\|)`)

// mask sets p.prose: the text of the page in which fenced blocks and comments
// are blank, and code spans and escaped characters are zero bytes. An offset
// into p.prose is the same offset into p.text().
func (p *page) mask() {
	prose := []byte(p.text())
	start, offset := 0, 0 // start of the paragraph, of the line
	for i, line := range p.lines {
		end := min(offset+len(line)+1, len(prose))
		blank := p.hidden[i] || strings.TrimSpace(line) == ""
		if blank || blockStart.MatchString(line) {
			p.maskSpans(prose, start, offset)
			start = offset
		}
		if blank {
			fill(prose[offset:end], ' ')
			start = end
		}
		offset = end
	}
	p.maskSpans(prose, start, len(prose))
	p.prose = string(prose)
}

// maskSpans masks the code spans, inline comments and escapes of the paragraph
// text[from:to].
func (p *page) maskSpans(text []byte, from, to int) {
	for i := from; i < to; {
		length := 1
		switch rest := text[i:to]; {
		case rest[0] == '\\' && len(rest) > 1 && isPunct(rest[1]):
			length = 2
			fill(rest[:length], 0)
		case rest[0] == '`':
			length = len(rest) - len(bytes.TrimLeft(rest, "`"))
			if n := codeSpan(rest, length); n > 0 {
				length = n
				fill(rest[:length], 0)
			}
		case bytes.HasPrefix(rest, []byte("<!--")):
			if end := bytes.Index(rest, []byte("-->")); end > 0 {
				length = end + len("-->")
			}
			if isDirective(string(rest[:length])) {
				p.complain(bytes.Count(text[:i], []byte("\n")), "%v", errNotAlone)
			}
			fill(rest[:length], 0)
		}
		i += length
	}
}

// codeSpan returns the length of the code span that text starts with, or 0. It
// ends at the next run of exactly n backquotes.
func codeSpan(text []byte, n int) int {
	for i := n; i < len(text); {
		if text[i] != '`' {
			i++
			continue
		}
		run := len(text[i:]) - len(bytes.TrimLeft(text[i:], "`"))
		i += run
		if run == n {
			return i
		}
	}
	return 0
}

// fill overwrites text, but keeps its newlines.
func fill(text []byte, with byte) {
	for i := range text {
		if text[i] != '\n' {
			text[i] = with
		}
	}
}

func isPunct(c byte) bool {
	return '!' <= c && c <= '/' || ':' <= c && c <= '@' || '[' <= c && c <= '`' || '{' <= c && c <= '~'
}
