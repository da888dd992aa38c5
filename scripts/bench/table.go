// The table.

package main

import (
	"fmt"
	"slices"

	"example.com/informer/scripts/bench/report"
)

// table returns the head, which says where and how this was measured, and a
// line for each row.
func table(m *measured, rows []row) string {
	lines := [][]string{{"what", "client-go", "ours", "ratio", "spread", "wanted", "reached"}}
	for _, r := range rows {
		lines = append(lines, r.cells(m))
	}
	return head(m) + "\n" + report.Aligned(lines)
}

func head(m *measured) string {
	return fmt.Sprintf("%s\nrounds: %d, in which the two take turns, each in a process of its own; shown are medians\n"+
		"ratio: how many times better ours is; spread: the least and the most of it in one round\n", machine(m), m.rounds)
}

// machine says on what this was measured.
func machine(m *measured) string {
	return report.Machine(m.config["date"], m.config["cpu"], m.config["client-go"])
}

func (r row) cells(m *measured) []string {
	a, b := m.median(r.bench, report.Theirs, r.unit), m.median(r.bench, report.Ours, r.unit)
	reached := "yes"
	if a/b < r.wanted {
		reached = "not reached"
	}
	return []string{r.what, r.show(a), r.show(b), report.Ratio(a / b),
		report.Spread(r.spread(m)), report.Plain(r.wanted) + " ×", reached}
}

// spread returns the lowest and the highest ratio of all rounds.
func (r row) spread(m *measured) (low, high float64) {
	ratios := slices.Clone(m.values[key{r.bench, report.Theirs, r.unit}])
	for i, value := range m.values[key{r.bench, report.Ours, r.unit}] {
		ratios[i] /= value
	}
	return slices.Min(ratios), slices.Max(ratios)
}
