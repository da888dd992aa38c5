// Command bench measures our shared informer beside client-go's. It runs the benchmarks of package
// fanout in rounds, prints a table, and writes the table and all results to docs/lab/bench. To
// compare all results:
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

var program = report.Program{Folder: "bench", Package: "bench/fanout", Measure: measure, Table: table}

func main() { program.Main() }

// A row compares the two informers in one unit of a benchmark.
type row struct {
	name  string // the first cell of the row
	bench string // the name of the benchmark, without its last part, which names the informer
	unit  string // the unit of the benchmark that the row shows

	// benchtime is the argument of -benchtime: 1s, or 100x for a hundred times. It is set in the
	// first row of each benchmark, and empty in the others. For a benchmark with many objects it is
	// a number of times, because the benchmark makes all objects anew for each guess of how often
	// it fits into a second. In the benchmarks with readers, 3x is three seconds.
	benchtime string
}

var rows = []row{
	{
		name:  "events per second, 1 handler",
		bench: "Events/handlers=1/objects=1000", benchtime: "1s", unit: "events/s",
	},
	{
		name:  "events per second, 10 handlers",
		bench: "Events/handlers=10/objects=1000", benchtime: "1s", unit: "events/s",
	},
	{
		name:  "events per second, 100 handlers",
		bench: "Events/handlers=100/objects=1000", benchtime: "1s", unit: "events/s",
	},
	{
		name:  "events per second, 1,000 handlers",
		bench: "Events/handlers=1000/objects=1000", benchtime: "1s", unit: "events/s",
	},
	{
		name:  "events per second, 1 handler, ours with an observer",
		bench: "Observed/handlers=1/objects=1000", benchtime: "1s", unit: "events/s",
	},
	{
		name:  "events per second, 10 handlers, 10,000 pods",
		bench: "Events/handlers=10/objects=10000", benchtime: "100000x", unit: "events/s",
	},
	{
		name:  "events per second, 10 handlers, 100,000 pods",
		bench: "Events/handlers=10/objects=100000", benchtime: "100000x", unit: "events/s",
	},
	{
		name:  "allocations per event, 1 handler",
		bench: "Events/handlers=1/objects=1000", unit: "allocs/op",
	},
	{
		name:  "bytes allocated per event, 1 handler",
		bench: "Events/handlers=1/objects=1000", unit: "B/op",
	},
	{
		name:  "first list of 1,000 pods, until 10 handlers have synced",
		bench: "Sync/handlers=10/objects=1000", benchtime: "20x", unit: "sec/op",
	},
	{
		name:  "first list of 10,000 pods, until 10 handlers have synced",
		bench: "Sync/handlers=10/objects=10000", benchtime: "5x", unit: "sec/op",
	},
	{
		name:  "first list of 100,000 pods, until 10 handlers have synced",
		bench: "Sync/handlers=10/objects=100000", benchtime: "1x", unit: "sec/op",
	},
	{
		name:  "heap held by a stalled handler, 1,000,000 updates of 1,000 pods",
		bench: "Stalled/handlers=1/objects=1000", benchtime: "1000000x", unit: "held-B",
	},
	{
		name:  "from watch event to handler, 10 handlers, median",
		bench: "Latency/handlers=10/objects=1000", benchtime: "20000x", unit: "p50-sec",
	},
	{
		name:  "from watch event to handler, 10 handlers, 99th percentile",
		bench: "Latency/handlers=10/objects=1000", unit: "p99-sec",
	},
	{
		name:  "changes delivered in 3 s, 4 readers list all the time (6,000 were made)",
		bench: "Readers/readers=4/objects=100000", benchtime: "3x", unit: "delivered",
	},
	{
		name:  "reads per second meanwhile, 4 readers, 10,000 of 100,000 pods each",
		bench: "Readers/readers=4/objects=100000", unit: "reads/s",
	},
	{
		name:  "changes delivered in 3 s, 16 readers list all the time (6,000 were made)",
		bench: "Readers/readers=16/objects=100000", benchtime: "3x", unit: "delivered",
	},
	{
		name:  "reads per second meanwhile, 16 readers, 10,000 of 100,000 pods each",
		bench: "Readers/readers=16/objects=100000", unit: "reads/s",
	},
	{
		name:  "lag of a change, 4 readers list every 20 ms, median",
		bench: "ReadersAtIntervals/readers=4/objects=100000/first", benchtime: "12x", unit: "p50-sec",
	},
	{
		name:  "lag of a change, 4 readers list every 20 ms, 99th percentile",
		bench: "ReadersAtIntervals/readers=4/objects=100000/first", unit: "p99-sec",
	},
	{
		name:  "bytes allocated per change meanwhile, with the lists",
		bench: "ReadersAtIntervals/readers=4/objects=100000/first", unit: "B/change",
	},
	{
		name:  "lag of a change, the same after busy readers, 99th percentile",
		bench: "ReadersAtIntervals/readers=4/objects=100000/later", benchtime: "12x", unit: "p99-sec",
	},
	{
		name:  "20 handlers join late, 100,000 pods, until they have synced",
		bench: "Join/handlers=20/objects=100000", benchtime: "1x", unit: "sec/op",
	},
	{
		name:  "worst lag of the handler that was there before, 1,000 changes a second",
		bench: "JoinLag/handlers=20/objects=100000", benchtime: "1x", unit: "worst-lag-sec",
	},
	{
		name:  "relist of 100,000 pods, all changed, until the handler has got all",
		bench: "Relist/handlers=1/objects=100000", benchtime: "1x", unit: "sec/op",
	},
	{
		name:  "deletion of 100,000 pods, one by one, until the handler has got the last",
		bench: "Deletes/handlers=1/objects=100000", benchtime: "1x", unit: "sec/op",
	},
	{
		name:  "index added late, 100,000 pods",
		bench: "LateIndex/objects=100000", benchtime: "5x", unit: "sec/op",
	},
	{
		name:  "memory of the store for each of 100,000 pods, without the pod",
		bench: "Memory/objects=100000", benchtime: "1x", unit: "B/pod",
	},
}

// measure runs all benchmarks once in each of five rounds. Each measurement is a process of its
// own, so that none inherits the heap of another. The two informers follow each other, so that
// other work of the machine hits both, and they take turns in being first. A quick run has one
// round, and runs each benchmark once, some with fewer pods than their names say.
func measure(ctx context.Context, run *report.Run) error {
	rounds := 5
	if run.Quick {
		rounds = 1
	}
	order := []string{report.Theirs, report.Ours}
	for round := range rounds {
		fmt.Fprintf(run.Progress, "round %d of %d\n", round+1, rounds)
		for _, row := range rows {
			benchtime := row.benchtime
			if benchtime == "" {
				continue // an earlier row has measured it
			}
			if run.Quick {
				benchtime = "1x"
			}
			for _, informer := range order {
				if err := run.Bench(ctx, row.bench+"/informer="+informer, benchtime); err != nil {
					return err
				}
			}
		}
		slices.Reverse(order)
	}
	return nil
}

// table returns a head that says where and how the results were measured, and a line for each row.
func table(results *report.Results) (string, error) {
	lines := [][]string{{"what", "client-go", "ours", "ratio", "spread"}}
	rounds := 0
	for _, row := range rows {
		c, err := results.Compare(report.Row{Name: row.name, Bench: row.bench, Unit: row.unit})
		if err != nil {
			return "", err
		}
		rounds = len(c.Ratios)
		lines = append(lines, c.Cells)
	}
	return fmt.Sprintf("%s\n"+
		"rounds: %d, in which the two take turns, each in a process of its own; shown are medians\n"+
		"ratio: how many times better ours is; spread: the least and the most of it in one round\n\n%s",
		results.Config["machine"], rounds, report.Align(lines)), nil
}
