// The table of the results, client-go's informer beside ours.

package main

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"example.com/informer/docs/lab/bench/report"
)

// results are those of one run of a fault, by the names of the implementations.
type results map[string]result

// head says how the faults were run, and what the columns mean.
func head(o options, r *runner, took time.Duration) string {
	return fmt.Sprintf(`
%.0f minutes of faults at random, seed %d, amid %.0f changes a second (%d tried) to ConfigMaps and pods in 3 namespaces
both at the same time, each with ten handlers for ConfigMaps and ten for pods; client-go / ours
events: calls of these handlers; errors: what the checker found, be it lost or wrong in another way
recovery: seconds from the end of the fault until the cache has what the server has
first: how often each one recovered first; within a tenth of a second neither did
heap in use after each fault: %s to %s
`, took.Minutes(), o.seed, float64(r.load.confirmed.Load())/r.load.worked.Seconds(), rate,
		report.Value(float64(r.minHeap), "B"), report.Value(float64(r.maxHeap), "B"))
}

// table has a line for each fault that was run, in the order of faults.
func table(faults []fault, runs []results) string {
	lines := [][]string{{"fault", "runs", "events", "errors", "recovery, median", "worst", "first"}}
	for _, f := range faults {
		ofFault := slices.DeleteFunc(slices.Clone(runs), func(both results) bool { return both[ours].fault != f.name })
		if len(ofFault) == 0 {
			continue
		}
		line := []string{f.name, strconv.Itoa(len(ofFault))}
		theirs := cells(ofFault, clientGo, ours)
		for i, cell := range cells(ofFault, ours, clientGo) {
			line = append(line, theirs[i]+" / "+cell)
		}
		lines = append(lines, line)
	}
	return report.Align(lines)
}

// cells are what one implementation has in the columns after the second.
func cells(runs []results, implementation, other string) []string {
	const tie = 100 * time.Millisecond
	var events, errs, first int
	var recoveries []time.Duration
	for _, both := range runs {
		r := both[implementation]
		events += r.events
		errs += r.errors
		recoveries = append(recoveries, r.recovery)
		if r.recovery < both[other].recovery-tie {
			first++
		}
	}
	slices.Sort(recoveries)
	return []string{
		report.Count(events), report.Count(errs),
		seconds(recoveries[(len(recoveries)-1)/2]), seconds(recoveries[len(recoveries)-1]), strconv.Itoa(first),
	}
}

func seconds(recovery time.Duration) string {
	if recovery == never {
		return "never"
	}
	return fmt.Sprintf("%.2f", recovery.Seconds())
}
