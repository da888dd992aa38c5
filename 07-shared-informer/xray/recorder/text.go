// Texts of the page.

package recorder

import (
	"fmt"
	"strings"
)

const maxTextBytes = 1_000 // of each text

// clip returns a short text as it is, and of a long text a copy of its beginning.
func clip(text string) string {
	if len(text) <= maxTextBytes {
		return text
	}
	begin := strings.ToValidUTF8(text[:maxTextBytes], "")
	return begin + " … left out: " + Plural(len(text)-len(begin), "more byte")
}

// Plural returns a number with its noun, such as "1 object" or "2,000 objects".
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return withCommas(n) + " " + noun + "s"
}

// withCommas writes a number with a comma before each group of three digits.
func withCommas(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", withCommas(n/1000), n%1000)
}
