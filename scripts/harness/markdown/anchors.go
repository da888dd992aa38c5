package markdown

import (
	"fmt"
	"strings"
	"unicode"
)

// Anchors are the anchors of the headings of a page. Add gives a heading its anchor.
type Anchors map[string]bool

// Add returns a new anchor for a heading, as GitHub does. The anchor is the text in lower case.
// Letters, digits, marks, underscores and hyphens stay; a space becomes a hyphen; other characters
// are dropped. Equal anchors get a number.
func (a Anchors) Add(heading string) string {
	id := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-', unicode.In(r, unicode.L, unicode.M, unicode.Nd, unicode.Pc):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
	unique := id
	for i := 1; a[unique]; i++ {
		unique = fmt.Sprintf("%s-%d", id, i)
	}
	a[unique] = true
	return unique
}
