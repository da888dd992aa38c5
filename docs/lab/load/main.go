// Command load makes a table of BenchmarkLoad, which puts our factory and client-go's under the same load.
// It reads results from standard input. scripts/load.sh measures.
package main

import (
	"fmt"
	"math"
	"strings"
	"time"

	"example.com/informer/docs/lab/report"
)

// ours is our factory in the results.
const ours = "ours"

func main() { report.Main(newPlan(false).head(), table) }

const handlerCount = 10

// A plan is the size of a run.
type plan struct {
	sizes  []int         // the numbers of ConfigMaps, in ascending order
	rounds int           // how often each factory syncs with each number of ConfigMaps
	rate   int           // changes per second
	slices int           // the number of slices in which the changes are measured
	slice  time.Duration // the length of a slice
}

// newPlan returns a plan that takes about five minutes on two cores. With its rate of changes, the
// cores are idle for nearly half of the time, although the API server, etcd, the writers and both
// factories share them. So the factories do not compete for a core. A quick plan takes seconds, and
// only shows that everything works.
func newPlan(quick bool) plan {
	if quick {
		return plan{sizes: []int{100, 300}, rounds: 2, rate: 50, slices: 2, slice: time.Second}
	}
	return plan{sizes: []int{1000, 10_000, 50_000}, rounds: 5, rate: 200, slices: 6, slice: 10 * time.Second}
}

// head returns what is written above the results.
func (p plan) head() string {
	return fmt.Sprintf("load: ConfigMaps of 1 KiB over protobuf from one API server; %d handlers; "+
		"each factory in a process of its own\n"+
		"objects: %s\n"+
		"sync: %d rounds, one after the other, taking turns\n"+
		"changes: both at the same time, measured in %d slices of %v\n",
		handlerCount, strings.Trim(fmt.Sprint(p.sizes), "[]"), p.rounds, p.slices, p.slice)
}

// rows are the rows for each number of objects. Bench is the part of the benchmark's name after
// this number.
var rows = []report.Row{
	{Name: "events delivered", Bench: "Handlers", Unit: "events"},
	{Name: "objects lost", Bench: "Handlers", Unit: "lost"},
	{Name: "time to sync", Bench: "Sync", Unit: "sec/op"},
	{Name: "CPU to sync", Bench: "Sync", Unit: "cpu-sec"},
	{Name: "bytes received to sync", Bench: "Sync", Unit: "received-B"},
	{Name: "requests to sync", Bench: "Sync", Unit: "requests"},
	{Name: "heap held after the sync", Bench: "MemoryAfterSync", Unit: "heap-B"},
	{Name: "most memory resident until then", Bench: "MemoryAfterSync", Unit: "peak-B"},
	{Name: "lag of an event, median", Bench: "Changes", Unit: "p50-sec"},
	{Name: "lag of an event, 99th percentile", Bench: "Changes", Unit: "p99-sec"},
	{Name: "CPU during all changes", Bench: "Changes", Unit: "cpu-sec", Sum: true},
	{Name: "bytes received during all changes", Bench: "Changes", Unit: "received-B", Sum: true},
	{Name: "requests during all changes", Bench: "Changes", Unit: "requests", Sum: true},
	{Name: "heap held after the changes", Bench: "MemoryAfterChanges", Unit: "heap-B"},
	{Name: "most memory resident, ever", Bench: "MemoryAfterChanges", Unit: "peak-B"},
}

// table returns a head that says where and how the results were measured, and the rows for each
// number of objects. If objects were lost, it also returns an error.
func table(results *report.Results) (string, error) {
	var lines [][]string
	lost := 0.0
	for objects := range strings.FieldsSeq(results.Config["objects"]) {
		bench := "Load/objects=" + objects + "/"
		lines = append(lines, []string{""}, []string{heading(results, objects, bench)},
			[]string{"what", "client-go", "ours", "ratio", "spread", "ours is"})
		for _, row := range rows {
			row.Bench = bench + row.Bench
			c, err := results.Compare(row, ours)
			if err != nil {
				return "", err
			}
			lines = append(lines, append(c.Cells, verdict(c)))
			if row.Unit == "lost" {
				lost += c.Theirs + c.Ours
			}
		}
	}
	text := fmt.Sprintf(`%s
%s
sync: %s; changes: %s
shown: medians of rounds or slices, and sums where it says during
ratio: how many times better ours is; spread: the least and the most of it in one round or slice
ours is the same: within %v %%; better or worse: in three of four rounds or slices at least; noise: what is neither
%s`, results.Config["machine"], results.Config["load"], results.Config["sync"], results.Config["changes"],
		100*within, report.Align(lines))
	if lost > 0 {
		return text, fmt.Errorf("%v objects were lost on the way to a handler: see the table", lost)
	}
	return text, nil
}

// heading returns the heading for a number of objects, with what is known about the load.
func heading(results *report.Results, objects, bench string) string {
	text := objects + " ConfigMaps"
	for _, rate := range results.Values(bench+"Machine", "changes/s") {
		text += fmt.Sprintf(", %.0f changes a second", rate)
	}
	for _, busy := range results.Values(bench+"Machine", "busy-%") { // there is none on a system without /proc
		text += fmt.Sprintf(", all cores %.0f %% busy", busy)
	}
	return text
}

// within is the greatest difference of two values that count as the same.
const within = 0.02

// verdict reports whether our factory is better, worse, or the same. It does not use benchstat, which
// does not know that the two were measured in pairs, in the same round or at the same time.
func verdict(c report.Comparison) string {
	agreeing := 0 // the number of rounds with the same winner as all rounds together
	for _, ratio := range c.Ratios {
		oursWinsBoth := ratio > 1 && c.Ratio > 1
		theirsWinsBoth := ratio < 1 && c.Ratio < 1
		if oursWinsBoth || theirsWinsBoth {
			agreeing++
		}
	}
	switch {
	case math.Abs(c.Ratio-1) <= within:
		return "the same"
	case 4*agreeing < 3*len(c.Ratios):
		return "noise"
	case c.Ratio > 1:
		return "better"
	}
	return "worse"
}
