// Finding the links of a page: inline, by reference, in HTML, and bare in <>.

package book

import (
	"regexp"
	"strings"
)

// link is a link or an image. For HTML and <https://…> its text is empty.
type link struct {
	line   int // counted from 0
	text   string
	target string
}

var (
	definition = regexp.MustCompile(`(?m)^ {0,3}\[([^\]\n]+)\]:[ \t]*(\S+)[^\n]*$`)
	htmlLink   = regexp.MustCompile(`<(?:a|img|source)\s[^>]*?\b(?:href|src|srcset)="([^"]*)"`)
	autoLink   = regexp.MustCompile(`<(https?:[^>\s]*)>`)
)

// reference is a line `[label]: target`.
type reference struct {
	offset int
	target string
	used   bool
}

// linkScanner walks over the prose of a page and collects links.
type linkScanner struct {
	page        *page
	text, prose string // text is the page as written, prose as masked
	definitions map[string]*reference
	links       []link
	problems    []Problem
}

// links returns the links of p in no particular order, and what looks like a
// link but is none.
func (p *page) links() ([]link, []Problem) {
	s := &linkScanner{page: p, text: p.text(), prose: p.prose, definitions: map[string]*reference{}}
	for _, re := range []*regexp.Regexp{htmlLink, autoLink} {
		for _, m := range re.FindAllStringSubmatchIndex(s.prose, -1) {
			s.add(m[0], "", s.text[m[2]:m[3]])
		}
	}
	s.takeDefinitions()
	s.scan(0, len(s.prose))
	for name, r := range s.definitions {
		if !r.used {
			s.complain(r.offset, "[%s] is defined but never used: take the line out", name)
		}
	}
	return s.links, s.problems
}

// takeDefinitions collects lines like `[label]: target` and blanks them.
func (s *linkScanner) takeDefinitions() {
	prose := []byte(s.prose)
	for _, m := range definition.FindAllStringSubmatchIndex(s.prose, -1) {
		name, target := label(s.text[m[2]:m[3]]), strings.Trim(s.text[m[4]:m[5]], "<>")
		if strings.HasPrefix(name, "^") {
			continue // a footnote
		}
		if _, twice := s.definitions[name]; twice {
			s.complain(m[0], "[%s] is defined twice", name)
		} else {
			s.definitions[name] = &reference{offset: m[0], target: target}
		}
		fill(prose[m[0]:m[1]], ' ')
	}
	s.prose = string(prose)
}

// label folds the name of a reference as Markdown does.
func label(name string) string {
	return strings.ToLower(strings.Join(strings.Fields(name), " "))
}

// scan finds the links that start in prose[from:to].
func (s *linkScanner) scan(from, to int) {
	for i := from; i < to; i++ {
		if s.prose[i] != '[' {
			continue
		}
		end := s.closing(i, to)
		if end < 0 {
			continue
		}
		s.scan(i+1, end) // an image inside the text of a link
		i = s.linkAt(i, end, to)
	}
}

// linkAt records the link whose text is prose[open+1:end], if it is one, and
// returns the offset of its last byte.
func (s *linkScanner) linkAt(open, end, to int) int {
	text := s.text[open+1 : end]
	name, last := text, end
	switch rest := s.prose[end+1 : to]; {
	case strings.HasPrefix(rest, "("):
		target, length := s.destination(end + 1)
		if length == 0 {
			s.complain(open, "[%s](… is no link: write [text](target) without spaces in the target, or put it in backquotes", text)
			return end
		}
		s.add(open, text, target)
		return end + length
	case strings.HasPrefix(rest, "["):
		if last = s.closing(end+1, to); last < 0 {
			return end
		}
		if given := s.text[end+2 : last]; strings.TrimSpace(given) != "" {
			name = given
		}
	}
	r, ok := s.definitions[label(name)]
	switch {
	case ok:
		r.used = true
		s.add(open, text, r.target)
	case last > end:
		s.complain(open, "[%s] is not defined on this page: add a line [%s]: target", name, name)
	}
	return last
}

// closing returns the offset of the ] that closes the [ at open, or -1. A
// paragraph ends the search.
func (s *linkScanner) closing(open, to int) int {
	depth := 0
	for i := open; i < to; i++ {
		switch s.prose[i] {
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				return i
			}
		case '\n':
			if line, _, _ := strings.Cut(s.prose[i+1:], "\n"); strings.TrimSpace(line) == "" {
				return -1
			}
		}
	}
	return -1
}

var inline = regexp.MustCompile(`^\([ \t]*\n?[ \t]*(?:<([^<>\n]*)>|((?:[^\s()<]|\([^\s()]*\))*))(?:\s+(?:"[^"]*"|'[^']*'|\([^()]*\)))?\s*\)`)

// destination reads `(target "title")` at the given offset and returns the
// target and the length of it all; 0 if it is not of that form.
func (s *linkScanner) destination(at int) (target string, length int) {
	m := inline.FindStringSubmatchIndex(s.prose[at:])
	if m == nil {
		return "", 0
	}
	group := 2
	if m[group] < 0 {
		group = 4
	}
	return s.text[at+m[group] : at+m[group+1]], m[1]
}

func (s *linkScanner) line(offset int) int { return strings.Count(s.text[:offset], "\n") }

func (s *linkScanner) add(offset int, text, target string) {
	s.links = append(s.links, link{line: s.line(offset), text: text, target: target})
}

func (s *linkScanner) complain(offset int, format string, args ...any) {
	s.problems = append(s.problems, s.page.problem(s.line(offset), format, args...))
}
