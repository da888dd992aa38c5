// Package hunk reads a hunk of a unified diff, as the exercises and tables of planted bugs have it:
// without file names and line numbers.
package hunk

import "strings"

// Parse returns the lines before and after the change. A line that begins with a minus is only in
// before, one with a plus only in after, and one with a space in both. An empty line stands for an
// empty line in both.
func Parse(text string) (before, after string) {
	var b, a strings.Builder
	for line := range strings.Lines(text) {
		if line == "\n" {
			line = " \n" // an editor has removed the space
		}
		if line[0] != '+' {
			b.WriteString(line[1:])
		}
		if line[0] != '-' {
			a.WriteString(line[1:])
		}
	}
	return b.String(), a.String()
}
