// Command bench makes a table of the benchmarks in this folder, which compare our shared informer with
// client-go's. It reads results from standard input. scripts/bench.sh measures.
//
// The last part of a benchmark's name is the informer: client-go, or ours with the parts of Part I or
// of Part II. All get the same objects from the same source, and have the same handlers. client-go has
// the default values of its feature gates. To compare some results with benchstat:
//
//	go test -run '^$' -bench Events -benchtime 20000x -count 5 ./docs/lab/bench | benchstat -col /informer -
package main

import (
	"fmt"

	"example.com/informer/docs/lab/report"
)

func main() { report.Main("", table) }

var rows = []report.Row{
	{Name: "events per second, 1 handler",
		Bench: "Events/handlers=1/objects=1000", Unit: "events/s"},
	{Name: "events per second, 10 handlers",
		Bench: "Events/handlers=10/objects=1000", Unit: "events/s"},
	{Name: "events per second, 100 handlers",
		Bench: "Events/handlers=100/objects=1000", Unit: "events/s"},
	{Name: "events per second, 1,000 handlers",
		Bench: "Events/handlers=1000/objects=1000", Unit: "events/s"},
	{Name: "events per second, 1 handler, ours with an observer",
		Bench: "Observed/handlers=1/objects=1000", Unit: "events/s"},
	{Name: "events per second, 10 handlers, 10,000 pods",
		Bench: "Events/handlers=10/objects=10000", Unit: "events/s"},
	{Name: "events per second, 10 handlers, 100,000 pods",
		Bench: "Events/handlers=10/objects=100000", Unit: "events/s"},
	{Name: "allocations per event, 1 handler",
		Bench: "Events/handlers=1/objects=1000", Unit: "allocs/op"},
	{Name: "bytes allocated per event, 1 handler",
		Bench: "Events/handlers=1/objects=1000", Unit: "B/op"},
	{Name: "first list of 1,000 pods, until 10 handlers have synced",
		Bench: "Sync/handlers=10/objects=1000", Unit: "sec/op"},
	{Name: "first list of 10,000 pods, until 10 handlers have synced",
		Bench: "Sync/handlers=10/objects=10000", Unit: "sec/op"},
	{Name: "first list of 100,000 pods, until 10 handlers have synced",
		Bench: "Sync/handlers=10/objects=100000", Unit: "sec/op"},
	{Name: "heap held by a stalled handler, 1,000,000 updates of 1,000 pods",
		Bench: "Stalled/handlers=1/objects=1000", Unit: "held-B"},
	{Name: "from watch event to handler, 10 handlers, median",
		Bench: "Latency/handlers=10/objects=1000", Unit: "p50-sec"},
	{Name: "from watch event to handler, 10 handlers, 99th percentile",
		Bench: "Latency/handlers=10/objects=1000", Unit: "p99-sec"},
	{Name: "changes delivered in 3 s, 4 readers list all the time (6,000 were made)",
		Bench: "Readers/readers=4/objects=100000", Unit: "delivered"},
	{Name: "reads per second meanwhile, 4 readers, 10,000 of 100,000 pods each",
		Bench: "Readers/readers=4/objects=100000", Unit: "reads/s"},
	{Name: "changes delivered in 3 s, 16 readers list all the time (6,000 were made)",
		Bench: "Readers/readers=16/objects=100000", Unit: "delivered"},
	{Name: "reads per second meanwhile, 16 readers, 10,000 of 100,000 pods each",
		Bench: "Readers/readers=16/objects=100000", Unit: "reads/s"},
	{Name: "lag of a change, 4 readers list every 20 ms, median",
		Bench: "ReadersAtIntervals/readers=4/objects=100000/first", Unit: "p50-sec"},
	{Name: "lag of a change, 4 readers list every 20 ms, 99th percentile",
		Bench: "ReadersAtIntervals/readers=4/objects=100000/first", Unit: "p99-sec"},
	{Name: "bytes allocated per change meanwhile, with the lists",
		Bench: "ReadersAtIntervals/readers=4/objects=100000/first", Unit: "B/change"},
	{Name: "lag of a change, the same after busy readers, 99th percentile",
		Bench: "ReadersAtIntervals/readers=4/objects=100000/later", Unit: "p99-sec"},
	{Name: "20 handlers join late, 100,000 pods, until they have synced",
		Bench: "Join/handlers=20/objects=100000", Unit: "sec/op"},
	{Name: "worst lag of the handler that was there before, 1,000 changes a second",
		Bench: "JoinLag/handlers=20/objects=100000", Unit: "worst-lag-sec"},
	{Name: "relist of 100,000 pods, all changed, until the handler has got all",
		Bench: "Relist/handlers=1/objects=100000", Unit: "sec/op"},
	{Name: "deletion of 100,000 pods, one by one, until the handler has got the last",
		Bench: "Deletes/handlers=1/objects=100000", Unit: "sec/op"},
	{Name: "index added late, 100,000 pods",
		Bench: "LateIndex/objects=100000", Unit: "sec/op"},
	{Name: "memory of the store for each of 100,000 pods, without the pod",
		Bench: "Memory/objects=100000", Unit: "B/pod"},
}

// table returns a head that says where and how the results were measured, and a line for each row.
func table(results *report.Results) (string, error) {
	lines := [][]string{{"what", "client-go", "Part I", "ratio", "spread", "Part II", "ratio", "spread"}}
	rounds := 0
	for _, row := range rows {
		one, err := results.Compare(row, "part1")
		if err != nil {
			return "", err
		}
		two, err := results.Compare(row, "part2")
		if err != nil {
			return "", err
		}
		rounds = len(two.Ratios)
		lines = append(lines, append(one.Cells, two.Cells[2:]...))
	}
	return fmt.Sprintf("%s\n"+
		"rounds: %d, in which the three take turns, each in a process of its own; shown are medians\n"+
		"ratio: how many times better ours is than client-go's; "+
		"spread: the least and the most of it in one round\n\n%s",
		results.Config["machine"], rounds, report.Align(lines)), nil
}
