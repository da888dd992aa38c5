// Command bench measures our shared informer next to client-go's: it runs the
// benchmarks of the package fanout in rounds, prints one table, and writes it
// and everything that was measured to docs/lab/bench. To see all of that:
//
//	benchstat -col /informer docs/lab/bench/results.txt
//
// Usage:
//
//	go run ./docs/lab/bench [-quick] [-table] [-o FOLDER]
package main

import (
	"context"
	"fmt"
	"slices"

	"example.com/informer/docs/lab/bench/report"
)

// program ends well even when a figure is not reached.
var program = report.Program{Folder: "bench", Package: "bench/fanout", Measure: measure, Table: table}

func main() { program.Main() }

// A row compares the two informers in one unit of a benchmark. The first row of a benchmark says how
// long it runs, as -benchtime takes it: 1s, or 100x for a hundred times. Where objects are many it is
// a number, because all of them are made anew for each guess of what fills 1s. Ours has to be wanted
// times better at least; where the row only shows how something grows, that is 0.
type row struct {
	what, bench, time, unit string
	wanted                  float64
}

var rows = []row{
	{"events per second, 1 handler", "Events/handlers=1/objects=1000", "1s", "events/s", 2.5},
	{"events per second, 10 handlers", "Events/handlers=10/objects=1000", "1s", "events/s", 8},
	{"events per second, 100 handlers", "Events/handlers=100/objects=1000", "1s", "events/s", 50},
	{"events per second, 1,000 handlers", "Events/handlers=1000/objects=1000", "1s", "events/s", 0},
	{"events per second, 1 handler, ours with an observer",
		"Observed/handlers=1/objects=1000", "1s", "events/s", 1},
	{"events per second, 10 handlers, 10,000 pods", "Events/handlers=10/objects=10000", "100000x", "events/s", 0},
	{"events per second, 10 handlers, 100,000 pods", "Events/handlers=10/objects=100000", "100000x", "events/s", 0},
	{"allocations per event, 1 handler", "Events/handlers=1/objects=1000", "", "allocs/op", 2},
	{"bytes allocated per event, 1 handler", "Events/handlers=1/objects=1000", "", "B/op", 2},
	{"first list of 1,000 pods, until 10 handlers have synced", "Sync/handlers=10/objects=1000", "20x", "sec/op", 0},
	{"first list of 10,000 pods, until 10 handlers have synced", "Sync/handlers=10/objects=10000", "5x", "sec/op", 0},
	{"first list of 100,000 pods, until 10 handlers have synced",
		"Sync/handlers=10/objects=100000", "1x", "sec/op", 4},
	{"heap held by a stalled handler, 1,000,000 updates of 1,000 pods",
		"Stalled/handlers=1/objects=1000", "1000000x", "held-B", 100},
	{"from watch event to handler, 10 handlers, median", "Latency/handlers=10/objects=1000", "20000x", "p50-sec", 1},
	{"from watch event to handler, 10 handlers, 99th percentile",
		"Latency/handlers=10/objects=1000", "", "p99-sec", 1},
	{"changes delivered in 3 s, 4 readers list all the time (6,000 were made)",
		"Readers/readers=4/objects=100000", "3x", "delivered", 1}, // 3 seconds
	{"reads per second meanwhile, 4 readers, 10,000 of 100,000 pods each",
		"Readers/readers=4/objects=100000", "", "reads/s", 7},
	{"changes delivered in 3 s, 16 readers list all the time (6,000 were made)",
		"Readers/readers=16/objects=100000", "3x", "delivered", 1},
	{"reads per second meanwhile, 16 readers, 10,000 of 100,000 pods each",
		"Readers/readers=16/objects=100000", "", "reads/s", 7},
	{"lag of a change, 4 readers list every 20 ms, median",
		"ReadersAtIntervals/readers=4/objects=100000/first", "12x", "p50-sec", 2},
	{"lag of a change, 4 readers list every 20 ms, 99th percentile",
		"ReadersAtIntervals/readers=4/objects=100000/first", "", "p99-sec", 1},
	{"bytes allocated per change meanwhile, with the lists",
		"ReadersAtIntervals/readers=4/objects=100000/first", "", "B/change", 1},
	{"lag of a change, the same after busy readers, 99th percentile",
		"ReadersAtIntervals/readers=4/objects=100000/later", "12x", "p99-sec", 1},
	{"20 handlers join late, 100,000 pods, until they have synced",
		"Join/handlers=20/objects=100000", "1x", "sec/op", 20},
	{"worst lag of the handler that was there before, 1,000 changes a second",
		"JoinLag/handlers=20/objects=100000", "1x", "worst-lag-sec", 10},
	{"relist of 100,000 pods, all changed, until the handler has got all",
		"Relist/handlers=1/objects=100000", "1x", "sec/op", 3},
	{"deletion of 100,000 pods, one by one, until the handler has got the last",
		"Deletes/handlers=1/objects=100000", "1x", "sec/op", 3},
	{"index added late, 100,000 pods", "LateIndex/objects=100000", "5x", "sec/op", 1.5},
	{"memory of the store for each of 100,000 pods, without the pod", "Memory/objects=100000", "1x", "B/pod", 0.9},
}

// measure runs all benchmarks once in each of five rounds. Every measurement is a process of its own,
// so that none inherits another's heap; the two informers follow each other, so that what else the
// machine does hits both; and they take turns in being first. Quick is one round, with each benchmark
// doing its thing once, some of them with fewer pods than their names say.
func measure(ctx context.Context, run *report.Run) error {
	rounds := 5
	if run.Quick {
		rounds = 1
	}
	order := []string{report.Theirs, report.Ours}
	for round := range rounds {
		fmt.Fprintf(run.Progress, "round %d of %d\n", round+1, rounds)
		for _, row := range rows {
			if row.time == "" {
				continue
			}
			if run.Quick {
				row.time = "1x"
			}
			for _, informer := range order {
				if err := run.Bench(ctx, row.bench+"/informer="+informer, row.time); err != nil {
					return err
				}
			}
		}
		slices.Reverse(order)
	}
	return nil
}

// table says where and how this was measured, and has a line for each row.
func table(results *report.Results) (string, error) {
	lines := [][]string{{"what", "client-go", "ours", "ratio", "spread", "wanted", "reached"}}
	rounds := 0
	for _, row := range rows {
		c, err := results.Compare(report.Row{What: row.what, Bench: row.bench, Unit: row.unit})
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
