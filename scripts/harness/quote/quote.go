// Package quote quotes texts for a shell.
package quote

import (
	"regexp"
	"strings"
)

// plainWord matches a word that needs no quotes.
var plainWord = regexp.MustCompile(`^[\w@%+=:,./-]+$`)

// Shell returns text as one word for a shell. It adds quotes if the text needs them.
func Shell(text string) string {
	if plainWord.MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
