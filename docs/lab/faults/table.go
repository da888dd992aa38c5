// The table of the results, client-go's informer beside ours.

package main

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"example.com/informer/docs/lab/bench/report"
	"example.com/informer/docs/lab/faults/catalog"
	"example.com/informer/docs/lab/faults/scenario"
)

// results are those of one run of a fault, by the names of the implementations.
type results map[string]scenario.Result

// head says how the faults were run, and what the columns mean.
func head(o options, took time.Duration, rate float64, minHeap, maxHeap int) string {
	return fmt.Sprintf(`
%.0f minutes of faults at random, seed %d, amid %.0f changes a second (%d tried) to ConfigMaps and pods in 3 namespaces
both at the same time, each with ten handlers for ConfigMaps and ten for pods; client-go / ours
events: calls of these handlers; errors: what the checker found, be it lost or wrong in another way
recovery: seconds from the end of the fault until the cache has what the server has
first: how often each one recovered first; within a tenth of a second neither did
heap in use after each fault: %s to %s
`, took.Minutes(), o.seed, rate, o.rate, report.Value(float64(minHeap), "B"), report.Value(float64(maxHeap), "B"))
}

// table has a line for each fault that was run, in the order of faults.
func table(faults []scenario.Fault, runs []results) string {
	lines := [][]string{{"fault", "runs", "events", "errors", "recovery, median", "worst", "first"}}
	for _, fault := range faults {
		var ofFault []results
		for _, both := range runs {
			if both[ours].Fault == fault.Name {
				ofFault = append(ofFault, both)
			}
		}
		if len(ofFault) > 0 {
			lines = append(lines, line(fault.Name, ofFault))
		}
	}
	return report.Align(lines)
}

func line(name string, runs []results) []string {
	cells := []string{name, strconv.Itoa(len(runs))}
	for _, show := range []func([]scenario.Result) string{
		sum(func(r scenario.Result) int { return r.Events }),
		sum(func(r scenario.Result) int { return r.Errors }),
		quantile(0.5), quantile(1),
	} {
		cells = append(cells, show(of(catalog.ClientGo, runs))+" / "+show(of(ours, runs)))
	}
	return append(cells, first(runs))
}

// of returns the results of one implementation.
func of(name string, runs []results) (all []scenario.Result) {
	for _, both := range runs {
		all = append(all, both[name])
	}
	return all
}

func sum(value func(scenario.Result) int) func([]scenario.Result) string {
	return func(all []scenario.Result) string {
		n := 0
		for _, r := range all {
			n += value(r)
		}
		return report.Count(n)
	}
}

// quantile is the time within which that part of the runs had recovered.
func quantile(q float64) func([]scenario.Result) string {
	return func(all []scenario.Result) string {
		var recoveries []time.Duration
		for _, r := range all {
			if r.Recovery > 0 {
				recoveries = append(recoveries, r.Recovery)
			}
		}
		slices.Sort(recoveries)
		n := max(0, int(float64(len(all))*q+0.5)-1)
		if n >= len(recoveries) {
			return "never"
		}
		return fmt.Sprintf("%.2f", recoveries[n].Seconds())
	}
}

// first counts who recovered first.
func first(runs []results) string {
	const tie = 100 * time.Millisecond
	counts := [2]int{}
	for _, both := range runs {
		a, b := both[catalog.ClientGo].Recovery, both[ours].Recovery
		switch {
		case a > 0 && (b == 0 || a < b-tie):
			counts[0]++
		case b > 0 && (a == 0 || b < a-tie):
			counts[1]++
		}
	}
	return fmt.Sprintf("%d / %d", counts[0], counts[1])
}
