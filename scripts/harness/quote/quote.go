// Package quote makes words that a shell does not cut.
package quote

import (
	"regexp"
	"strings"
)

// plain are the words that a shell takes as they are.
var plain = regexp.MustCompile(`^[\w@%+=:,./-]+$`)

// Shell returns text as one word of a shell: in quotes, if it needs them.
func Shell(text string) string {
	if plain.MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
