// The table of what came of the faults, our informer beside client-go's.

package main

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"example.com/informer/scripts/bench/report"
	"example.com/informer/scripts/faults/bout"
	"example.com/informer/scripts/faults/catalog"
)

// An outcome is what came of one run of a fault, by the contenders' names.
type outcome map[string]bout.Result

// head says how the faults happened.
func head(o options, lasted time.Duration, rate float64, least, most uint64) string {
	return fmt.Sprintf(`
%.0f minutes of faults at random, seed %d, amid %.0f changes a second (%d tried) to ConfigMaps and pods in 3 namespaces
both at the same time, each with ten handlers for ConfigMaps and ten for pods; ours / client-go's
events: calls of these handlers; lost: what the judge found, be it lost or wrong in another way
true after: seconds from the end of the fault until what is cached is what the server has
first: how often that was ours / client-go's; within a tenth of a second it is neither
heap in use after each fault: %s to %s
`, lasted.Minutes(), o.seed, rate, o.rate, report.Value(float64(least), "B"), report.Value(float64(most), "B"))
}

// table has a line for each fault that was run, in the order of faults.
func table(faults []bout.Fault, runs []outcome) string {
	lines := [][]string{{"fault", "runs", "events", "lost", "true after, median", "worst", "first"}}
	for _, fault := range faults {
		var its []outcome
		for _, r := range runs {
			if r[ours].Fault == fault.Name {
				its = append(its, r)
			}
		}
		if len(its) > 0 {
			lines = append(lines, line(fault.Name, its))
		}
	}
	return report.Align(lines)
}

func line(name string, runs []outcome) []string {
	cells := []string{name, strconv.Itoa(len(runs))}
	for _, show := range []func([]bout.Result) string{
		sum(func(r bout.Result) int { return r.Events }),
		sum(func(r bout.Result) int { return r.Wrong }),
		quantile(0.5), quantile(1),
	} {
		cells = append(cells, show(of(ours, runs))+" / "+show(of(catalog.ClientGo, runs)))
	}
	return append(cells, first(runs))
}

func of(name string, runs []outcome) (results []bout.Result) {
	for _, r := range runs {
		results = append(results, r[name])
	}
	return results
}

func sum(value func(bout.Result) int) func([]bout.Result) string {
	return func(results []bout.Result) string {
		n := 0
		for _, r := range results {
			n += value(r)
		}
		return report.Count(n)
	}
}

// quantile is the time within which that part of the runs had a true store.
func quantile(q float64) func([]bout.Result) string {
	return func(results []bout.Result) string {
		var recoveries []time.Duration
		for _, r := range results {
			if r.Recovery > 0 {
				recoveries = append(recoveries, r.Recovery)
			}
		}
		slices.Sort(recoveries)
		n := max(0, int(float64(len(results))*q+0.5)-1)
		if n >= len(recoveries) {
			return "never"
		}
		return fmt.Sprintf("%.2f", recoveries[n].Seconds())
	}
}

// first counts who had a true store first.
func first(runs []outcome) string {
	const tie = 100 * time.Millisecond
	counts := [2]int{}
	for _, r := range runs {
		a, b := r[ours].Recovery, r[catalog.ClientGo].Recovery
		switch {
		case a > 0 && (b == 0 || a < b-tie):
			counts[0]++
		case b > 0 && (a == 0 || b < a-tie):
			counts[1]++
		}
	}
	return fmt.Sprintf("%d / %d", counts[0], counts[1])
}
