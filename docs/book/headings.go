// Headings, and the anchors that GitHub gives them.

package book

import (
	"fmt"
	"html"
	"regexp"
	"strings"
	"unicode"
)

type heading struct {
	line  int // counted from 0
	level int
	text  string // as written
}

var (
	atxHeading = regexp.MustCompile(`^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$`)
	underline  = regexp.MustCompile(`^ {0,3}(=+|-+)[ \t]*$`)
	// What is dropped from a heading's prose before it becomes an anchor.
	headingImage = regexp.MustCompile(`!\[[^\]]*\]\([^)]*\)`)
	headingLink  = regexp.MustCompile(`\](\([^)]*\)|\[[^\]]*\])`)
	headingTag   = regexp.MustCompile(`</?[A-Za-z][^>]*>`)
	emphasis     = regexp.MustCompile(`(^|[^\pL\pN_])_{1,2}([^_]+)_{1,2}($|[^\pL\pN_])`)
	headingCode  = regexp.MustCompile("`[^`]+`")
	htmlAnchor   = regexp.MustCompile(`<a\s[^>]*\b(?:id|name)="([^"]+)"`)
)

func (p *page) headings() []heading {
	var found []heading
	for i, line := range p.lines {
		if p.hidden[i] {
			continue
		}
		if m := atxHeading.FindStringSubmatch(line); m != nil {
			found = append(found, heading{line: i, level: len(m[1]), text: m[2]})
		} else if m := underline.FindStringSubmatch(line); m != nil && p.isParagraph(i-1) {
			level := 1
			if m[1][0] == '-' {
				level = 2
			}
			found = append(found, heading{line: i - 1, level: level, text: strings.TrimSpace(p.lines[i-1])})
		}
	}
	return found
}

// isParagraph says whether line i is plain text, which an underline makes a heading.
func (p *page) isParagraph(i int) bool {
	if i < 0 || p.hidden[i] {
		return false
	}
	line := p.lines[i]
	return strings.TrimSpace(line) != "" && !blockStart.MatchString(line) && !htmlTag.MatchString(line) &&
		!strings.HasPrefix(strings.TrimSpace(line), ">")
}

// anchors returns the fragments that lead into the page.
func (p *page) anchors() map[string]bool {
	found := map[string]bool{}
	seen := map[string]int{}
	for _, h := range p.headings() {
		id := anchor(h.text)
		if n := seen[id]; n > 0 {
			found[fmt.Sprintf("%s-%d", id, n)] = true
		} else {
			found[id] = true
		}
		seen[id]++
	}
	for _, m := range htmlAnchor.FindAllStringSubmatch(p.prose, -1) {
		found[m[1]] = true
	}
	return found
}

// anchor follows GitHub: the text as shown, lower case; letters, digits, marks,
// underscores and hyphens stay, a space becomes a hyphen, the rest is dropped.
func anchor(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-', unicode.In(r, unicode.L, unicode.M, unicode.Nd, unicode.Pc):
			return unicode.ToLower(r)
		}
		return -1
	}, shown(text))
}

// shown takes the markup off a heading; what stands in backquotes is kept as it is.
func shown(text string) string {
	var out strings.Builder
	for text != "" {
		at := headingCode.FindStringIndex(text)
		if at == nil {
			at = []int{len(text), len(text)}
		}
		out.WriteString(plain(text[:at[0]]))
		out.WriteString(strings.Trim(text[at[0]:at[1]], "`"))
		text = text[at[1]:]
	}
	return out.String()
}

func plain(text string) string {
	text = headingImage.ReplaceAllString(text, "")
	text = headingLink.ReplaceAllString(text, "")
	text = headingTag.ReplaceAllString(text, "")
	for range 2 { // neighbours share the space between them
		text = emphasis.ReplaceAllString(text, "$1$2$3")
	}
	return html.UnescapeString(text)
}
