// The picture: how the cost grows.

package main

import "example.com/informer/scripts/bench/report"

// picture draws the medians of each panel's benchmarks.
func picture(m *measured, panels []panel) string {
	var drawn []report.Panel
	for _, p := range panels {
		lines := map[string][]float64{}
		for _, informer := range []string{report.Theirs, report.Ours} {
			for _, bench := range p.bench {
				lines[informer] = append(lines[informer], m.median(bench, informer, "ns/op"))
			}
		}
		drawn = append(drawn, report.Panel{Title: p.title, XAxis: p.xAxis, X: p.x, Y: lines})
	}
	return report.Picture("How the cost of an event and of the first list grows, client-go's informer and ours", machine(m), drawn)
}
