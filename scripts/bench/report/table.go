package report

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// Ratio writes how many times one is the other.
func Ratio(f float64) string { return Digits(f) + " ×" }

// Spread writes the least and the most of a ratio.
func Spread(low, high float64) string { return Digits(low) + " to " + Digits(high) }

// Aligned puts the first column and the last to the left, the others to the
// right. The first line is the longest; one that is a single cell is a heading.
func Aligned(lines [][]string) string {
	widths := make([]int, len(lines[0]))
	for _, line := range lines {
		for i, cell := range line {
			if len(line) > 1 {
				widths[i] = max(widths[i], utf8.RuneCountInString(cell))
			}
		}
	}
	var text strings.Builder
	for _, line := range lines {
		text.WriteString(aligned(line, widths) + "\n")
	}
	return text.String()
}

func aligned(line []string, widths []int) string {
	var text strings.Builder
	for i, cell := range line {
		space := strings.Repeat(" ", max(0, widths[i]-utf8.RuneCountInString(cell)))
		switch i {
		case 0:
			text.WriteString(cell + space)
		case len(widths) - 1:
			text.WriteString("  " + cell)
		default:
			text.WriteString("  " + space + cell)
		}
	}
	return strings.TrimRight(text.String(), " ")
}

// Write writes files into a folder, which it makes if it has to.
func Write(folder string, files map[string]string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("making a folder for the results: %w", err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			return fmt.Errorf("writing the results: %w", err)
		}
	}
	return nil
}
