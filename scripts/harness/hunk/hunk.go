// Package hunk reads a change of a text that is written down as a difference: a planted bug, or a
// wrong answer. The compiler sees the changed text in an overlay.
package hunk

import (
	"fmt"
	"strings"
)

// Parse returns the lines that a hunk replaces, and the lines that it puts in their place. The
// lines of a hunk begin with a minus, a plus or a space. An empty line counts as a space: an editor
// has removed it.
func Parse(hunk string) (before, after string) {
	var old, changed strings.Builder
	for line := range strings.Lines(hunk) {
		if line == "\n" {
			line = " \n"
		}
		if line[0] != '+' {
			old.WriteString(line[1:])
		}
		if line[0] != '-' {
			changed.WriteString(line[1:])
		}
	}
	return old.String(), changed.String()
}

// Apply applies the hunks of a difference to a text, one after the other. A line @@ stands between
// two hunks. The lines that a hunk replaces must be in the text exactly once.
func Apply(text, difference string) (string, error) {
	for hunk := range strings.SplitSeq(difference, "@@\n") {
		before, after := Parse(hunk)
		if n := strings.Count(text, before); n != 1 {
			return "", fmt.Errorf("these lines stand in it %d times, not once:\n%s", n, before)
		}
		text = strings.Replace(text, before, after, 1)
	}
	return text, nil
}
