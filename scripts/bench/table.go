// The table.

package main

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"
)

// table returns the head, which says where and how this was measured, and a
// line for each row.
func table(m *measured, rows []row) string {
	lines := [][]string{{"what", "client-go", "ours", "ratio", "spread", "wanted", "reached"}}
	for _, r := range rows {
		lines = append(lines, r.cells(m))
	}
	return head(m) + "\n" + aligned(lines)
}

func head(m *measured) string {
	return fmt.Sprintf("%s\nrounds: %d, in which the two take turns, each in a process of its own; shown are medians\n"+
		"ratio: how many times better ours is; spread: the least and the most of it in one round\n", machine(m), m.rounds)
}

// machine says on what this was measured.
func machine(m *measured) string {
	cpu := m.config["cpu"]
	if cpu == "" {
		cpu = "an unknown processor"
	}
	return fmt.Sprintf("%s: %s, %d cores, %s/%s, %s, client-go %s", m.config["date"], cpu, runtime.NumCPU(),
		m.config["goos"], m.config["goarch"], m.config["go"], m.config["client-go"])
}

func (r row) cells(m *measured) []string {
	a, b := m.median(r.bench, theirs, r.unit), m.median(r.bench, ours, r.unit)
	low, high := r.spread(m)
	reached := "yes"
	if a/b < r.wanted {
		reached = "not reached"
	}
	return []string{r.what, r.show(a), r.show(b), digits(a/b) + " ×",
		digits(low) + " to " + digits(high), plain(r.wanted) + " ×", reached}
}

// spread returns the lowest and the highest ratio of all rounds.
func (r row) spread(m *measured) (low, high float64) {
	ratios := slices.Clone(m.values[key{r.bench, theirs, r.unit}])
	for i, value := range m.values[key{r.bench, ours, r.unit}] {
		ratios[i] /= value
	}
	return slices.Min(ratios), slices.Max(ratios)
}

// aligned puts the first column and the last to the left, the others to the right.
func aligned(lines [][]string) string {
	widths := make([]int, len(lines[0]))
	for _, line := range lines {
		for i, cell := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var text strings.Builder
	for _, line := range lines {
		for i, cell := range line {
			space := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			switch i {
			case 0:
				text.WriteString(cell + space)
			case len(line) - 1:
				text.WriteString("  " + cell)
			default:
				text.WriteString("  " + space + cell)
			}
		}
		text.WriteString("\n")
	}
	return text.String()
}
