// The table.

package main

import (
	"fmt"

	"golang.org/x/perf/benchunit"

	"example.com/informer/docs/lab/bench/report"
)

// A row compares the two informers. Ours has to be wanted times better at least;
// where the row only shows how something grows, that is 0.
type row struct {
	report.Row
	wanted float64
}

var rows = []row{
	{events("1 handler", "handlers=1/objects=1000"), 2.5},
	{events("10 handlers", "handlers=10/objects=1000"), 8},
	{events("100 handlers", "handlers=100/objects=1000"), 50},
	{events("1,000 handlers", "handlers=1000/objects=1000"), 0},
	{report.Row{What: "events per second, 1 handler, ours with an observer",
		Bench: "Observed/handlers=1/objects=1000", Unit: "sec/op", Show: perSecond}, 1},
	{events("10 handlers, 10,000 pods", "handlers=10/objects=10000"), 0},
	{events("10 handlers, 100,000 pods", "handlers=10/objects=100000"), 0},
	{report.Row{What: "allocations per event, 1 handler",
		Bench: "Events/handlers=1/objects=1000", Unit: "allocs/op"}, 2},
	{report.Row{What: "bytes allocated per event, 1 handler",
		Bench: "Events/handlers=1/objects=1000", Unit: "B/op"}, 2},
	{sync("1,000", "objects=1000"), 0},
	{sync("10,000", "objects=10000"), 0},
	{sync("100,000", "objects=100000"), 4},
	{report.Row{What: "heap held by a stalled handler, 1,000,000 updates of 1,000 pods",
		Bench: "Stalled/handlers=1/objects=1000", Unit: "held-B"}, 100},
	{report.Row{What: "from watch event to handler, 10 handlers, median",
		Bench: "Latency/handlers=10/objects=1000", Unit: "p50-sec"}, 1},
	{report.Row{What: "from watch event to handler, 10 handlers, 99th percentile",
		Bench: "Latency/handlers=10/objects=1000", Unit: "p99-sec"}, 1},
	{delivered(4), 1},
	{reads(4), 7},
	{delivered(16), 1},
	{reads(16), 7},
	{atIntervals("lag of a change, 4 readers list every 20 ms, median", "first", "p50-sec"), 2},
	{atIntervals("lag of a change, 4 readers list every 20 ms, 99th percentile", "first", "p99-sec"), 1},
	{atIntervals("bytes allocated per change meanwhile, with the lists", "first", "B/change"), 1},
	{atIntervals("lag of a change, the same after busy readers, 99th percentile", "later", "p99-sec"), 1},
	{report.Row{What: "20 handlers join late, 100,000 pods, until they have synced",
		Bench: "Join/handlers=20/objects=100000", Unit: "sec/op"}, 20},
	{report.Row{What: "worst lag of the handler that was there before, 1,000 changes a second",
		Bench: "JoinLag/handlers=20/objects=100000", Unit: "worst-lag-sec"}, 10},
	{report.Row{What: "relist of 100,000 pods, all changed, until the handler has got all",
		Bench: "Relist/handlers=1/objects=100000", Unit: "sec/op"}, 3},
	{report.Row{What: "deletion of 100,000 pods, one by one, until the handler has got the last",
		Bench: "Deletes/handlers=1/objects=100000", Unit: "sec/op"}, 3},
	{report.Row{What: "index added late, 100,000 pods", Bench: "LateIndex/objects=100000", Unit: "sec/op"}, 1.5},
	{report.Row{What: "memory of the store for each of 100,000 pods, without the pod",
		Bench: "Memory/objects=100000", Unit: "B/pod"}, 0.9},
}

func events(with, bench string) report.Row {
	return report.Row{What: "events per second, " + with, Bench: "Events/" + bench, Unit: "sec/op", Show: perSecond}
}

func perSecond(seconds float64, _ string) string { return scaled(1/seconds, "") }

func sync(pods, bench string) report.Row {
	return report.Row{What: "first list of " + pods + " pods, until 10 handlers have synced",
		Bench: "Sync/handlers=10/" + bench, Unit: "sec/op"}
}

func delivered(readers int) report.Row {
	return report.Row{
		What:  fmt.Sprintf("changes delivered in 3 s, %d readers list all the time (6,000 were made)", readers),
		Bench: fmt.Sprintf("Readers/readers=%d/objects=100000", readers), Unit: "delivered", More: true}
}

func reads(readers int) report.Row {
	return report.Row{
		What:  fmt.Sprintf("reads per second meanwhile, %d readers, 10,000 of 100,000 pods each", readers),
		Bench: fmt.Sprintf("Readers/readers=%d/objects=100000", readers), Unit: "reads/s", More: true, Show: scaled}
}

func atIntervals(what, when, unit string) report.Row {
	return report.Row{What: what, Bench: "ReadersAtIntervals/readers=4/objects=100000/" + when, Unit: unit}
}

func scaled(value float64, _ string) string { return benchunit.Scale(value, benchunit.Decimal) }

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
