// The table.

package main

import (
	"fmt"

	"golang.org/x/perf/benchunit"

	"example.com/informer/docs/bench/report"
)

// A row compares the two informers. Ours has to be wanted times better at least;
// where the row only shows how something grows, that is 0.
type row struct {
	report.Row
	wanted float64
}

var rows = []row{
	{events("1 handler", "handlers=1/objects=1000"), 2},
	{events("10 handlers", "handlers=10/objects=1000"), 5},
	{events("100 handlers", "handlers=100/objects=1000"), 20},
	{events("1,000 handlers", "handlers=1000/objects=1000"), 0},
	{events("10 handlers, 10,000 pods", "handlers=10/objects=10000"), 0},
	{events("10 handlers, 100,000 pods", "handlers=10/objects=100000"), 0},
	{report.Row{What: "allocations per event, 1 handler",
		Bench: "Events/handlers=1/objects=1000", Unit: "allocs/op"}, 2},
	{sync("1,000", "objects=1000"), 0},
	{sync("10,000", "objects=10000"), 0},
	{sync("100,000", "objects=100000"), 1.5},
	{report.Row{What: "heap held by a stalled handler, 1,000,000 updates of 1,000 pods",
		Bench: "Stalled/handlers=1/objects=1000", Unit: "held-B"}, 100},
	{report.Row{What: "from watch event to handler, 10 handlers, median",
		Bench: "Latency/handlers=10/objects=1000", Unit: "p50-sec"}, 1},
	{report.Row{What: "from watch event to handler, 10 handlers, 99th percentile",
		Bench: "Latency/handlers=10/objects=1000", Unit: "p99-sec"}, 1},
}

func events(with, bench string) report.Row {
	return report.Row{What: "events per second, " + with, Bench: "Events/" + bench, Unit: "sec/op",
		Show: func(seconds float64, _ string) string { return benchunit.Scale(1/seconds, benchunit.Decimal) }}
}

func sync(pods, bench string) report.Row {
	return report.Row{What: "first list of " + pods + " pods, until 10 handlers have synced",
		Bench: "Sync/handlers=10/" + bench, Unit: "sec/op"}
}

// table says where and how this was measured, and has a line for each row.
func table(results *report.Results) (string, error) {
	lines := [][]string{{"what", "client-go", "ours", "ratio", "spread", "wanted", "reached"}}
	rounds := 0
	for _, row := range rows {
		c, err := results.Compare(row.Row)
		if err != nil {
			return "", err
		}
		rounds = len(c.Ratios)
		lines = append(lines, append(c.Cells, row.verdict(c.Ratio)...))
	}
	return fmt.Sprintf("%s\n"+
		"rounds: %d, in which the two take turns, each in a process of its own; shown are medians\n"+
		"ratio: how many times better ours is; spread: the least and the most of it in one round\n\n%s",
		results.Config["machine"], rounds, report.Align(lines)), nil
}

func (r row) verdict(ratio float64) []string {
	wanted := fmt.Sprintf("%v ×", r.wanted)
	switch {
	case r.wanted == 0:
		return []string{"", ""}
	case ratio < r.wanted:
		return []string{wanted, "not reached"}
	}
	return []string{wanted, "yes"}
}
