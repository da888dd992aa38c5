// Command load puts our factory and client-go's under the same load, side by side, each in a process
// of its own, on a throw-away control plane: it runs BenchmarkLoad, prints one table, and writes it
// and everything that was measured to docs/lab/load.
//
//	go run ./docs/lab/load [-quick] [-table] [-o FOLDER]
package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"time"

	"example.com/informer/docs/lab/bench/report"
	"example.com/informer/scripts/cluster/binaries"
	"example.com/informer/scripts/cluster/local"
)

// program ends well even when ours is worse, but not when something was lost.
var program = report.Program{Folder: "load", Package: "load", Measure: measure, Table: table}

func main() { program.Main() }

const handlerCount = 10

// A plan is what is measured.
type plan struct {
	sizes  []int         // how many ConfigMaps, growing
	rounds int           // how often each syncs with each number of objects
	rate   int           // changes a second
	slices int           // in how many parts the time of changes is measured
	slice  time.Duration // how long each is
}

// newPlan takes about five minutes on two cores. Its rate leaves them idle for nearly half of the
// time, though the API server, etcd, the writers of changes and both factories share them: what is
// measured is not who gets a core. Quick takes seconds, and shows only that everything works.
func newPlan(quick bool) plan {
	if quick {
		return plan{sizes: []int{100, 300}, rounds: 2, rate: 50, slices: 2, slice: time.Second}
	}
	return plan{sizes: []int{1000, 10_000, 50_000}, rounds: 5, rate: 200, slices: 6, slice: 10 * time.Second}
}

// measure runs the benchmark on a control plane with nothing but the API: nobody
// changes objects but the benchmark.
func measure(ctx context.Context, run *report.Run) (err error) {
	p := newPlan(run.Quick)
	run.Config("load", fmt.Sprintf("ConfigMaps of 1 KiB over protobuf from one API server; %d handlers; "+
		"each factory in a process of its own", handlerCount))
	run.Config("objects", strings.Trim(fmt.Sprint(p.sizes), "[]"))
	run.Config("sync", fmt.Sprintf("%d rounds, one after the other, taking turns", p.rounds))
	run.Config("changes", fmt.Sprintf("both at the same time, measured in %d slices of %v", p.slices, p.slice))
	plane, err := local.Start(ctx, local.Options{
		Dir: filepath.Join(run.Dir, "plane"), Options: binaries.Options{Progress: run.Progress},
		Disable: []string{local.ControllerManager, local.Scheduler, local.Node},
	})
	if err != nil {
		return fmt.Errorf("starting a control plane: %w", err)
	}
	defer func() { err = errors.Join(err, plane.Stop()) }()
	return run.Bench(ctx, "Load", "1x", "KUBECONFIG="+plane.Kubeconfig())
}

// rows of each number of objects. Bench is the part of the name after that number.
var rows = []report.Row{
	{What: "events delivered", Bench: "Handlers", Unit: "events"},
	{What: "objects lost", Bench: "Handlers", Unit: "lost"},
	{What: "time to sync", Bench: "Sync", Unit: "sec/op"},
	{What: "CPU to sync", Bench: "Sync", Unit: "cpu-sec"},
	{What: "bytes received to sync", Bench: "Sync", Unit: "received-B"},
	{What: "requests to sync", Bench: "Sync", Unit: "requests"},
	{What: "heap held after the sync", Bench: "MemoryAfterSync", Unit: "heap-B"},
	{What: "most memory resident until then", Bench: "MemoryAfterSync", Unit: "peak-B"},
	{What: "lag of an event, median", Bench: "Changes", Unit: "p50-sec"},
	{What: "lag of an event, 99th percentile", Bench: "Changes", Unit: "p99-sec"},
	{What: "CPU during all changes", Bench: "Changes", Unit: "cpu-sec", Sum: true},
	{What: "bytes received during all changes", Bench: "Changes", Unit: "received-B", Sum: true},
	{What: "requests during all changes", Bench: "Changes", Unit: "requests", Sum: true},
	{What: "heap held after the changes", Bench: "MemoryAfterChanges", Unit: "heap-B"},
	{What: "most memory resident, ever", Bench: "MemoryAfterChanges", Unit: "peak-B"},
}

// table says where and how this was measured, and has the rows of each number of
// objects. Its error says that objects were lost.
func table(results *report.Results) (string, error) {
	var lines [][]string
	lost := 0.0
	for objects := range strings.FieldsSeq(results.Config["objects"]) {
		bench := "Load/objects=" + objects + "/"
		heading := objects + " ConfigMaps"
		for _, rate := range results.Values(bench+"Machine", "changes/s") {
			heading += fmt.Sprintf(", %.0f changes a second", rate)
		}
		for _, busy := range results.Values(bench+"Machine", "busy-%") { // it may be unknown
			heading += fmt.Sprintf(", all cores %.0f %% busy", busy)
		}
		lines = append(lines, []string{""}, []string{heading},
			[]string{"what", "client-go", "ours", "ratio", "spread", "ours is"})
		for _, row := range rows {
			row.Bench = bench + row.Bench
			c, err := results.Compare(row)
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

// within is what counts as the same.
const within = 0.02

// verdict says what ours is. It is not that of benchstat, which does not know
// that the two are measured in pairs: in the same round, or at the same time.
func verdict(c report.Comparison) string {
	alike := 0 // rounds in which it is as it is in all of them
	for _, ratio := range c.Ratios {
		if ratio > 1 && c.Ratio > 1 || ratio < 1 && c.Ratio < 1 {
			alike++
		}
	}
	switch {
	case math.Abs(c.Ratio-1) <= within:
		return "the same"
	case 4*alike < 3*len(c.Ratios):
		return "noise"
	case c.Ratio > 1:
		return "better"
	}
	return "worse"
}
