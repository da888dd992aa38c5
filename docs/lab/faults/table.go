// The results as text: a line for each result, and the table of the report.

package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"example.com/informer/docs/lab/report"
)

// printResult prints the result of one implementation.
func printResult(w io.Writer, r result) {
	recovery := "never recovered"
	if r.recovery < never {
		recovery = fmt.Sprintf("recovered after %v", r.recovery.Round(time.Millisecond))
	}
	fmt.Fprintf(w, "%s  %s: %s: %d events, %s\n", time.Now().Format(time.TimeOnly), r.fault, r.implementation,
		r.events, recovery)
	if r.err != nil {
		fmt.Fprintf(w, "%d errors: %v\n", r.errors, r.err)
	}
}

// head returns the text above the table. It says how the faults were run, and what the columns
// mean.
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

// table returns a table with a line for each fault that was run, in the order of faults.
func table(faults []entry, runs []results) string {
	lines := [][]string{{"fault", "runs", "events", "errors", "recovery, median", "worst", "first"}}
	for _, f := range faults {
		faultRuns := slices.DeleteFunc(slices.Clone(runs), func(run results) bool { return run[ours].fault != f.name })
		if len(faultRuns) == 0 {
			continue
		}
		line := []string{f.name, strconv.Itoa(len(faultRuns))}
		theirs := cells(faultRuns, clientGo, ours)
		for i, cell := range cells(faultRuns, ours, clientGo) {
			line = append(line, theirs[i]+" / "+cell)
		}
		lines = append(lines, line)
	}
	return report.Align(lines)
}

// cells returns the values of one implementation for the columns after the second.
func cells(runs []results, implementation, other string) []string {
	const tie = 100 * time.Millisecond
	var events, errs, first int
	var recoveries []time.Duration
	for _, run := range runs {
		r := run[implementation]
		events += r.events
		errs += r.errors
		recoveries = append(recoveries, r.recovery)
		if r.recovery < run[other].recovery-tie {
			first++
		}
	}
	slices.Sort(recoveries)
	return []string{
		report.Count(events), report.Count(errs),
		seconds(recoveries[(len(recoveries)-1)/2]), seconds(recoveries[len(recoveries)-1]), strconv.Itoa(first),
	}
}

// seconds returns a time of recovery in seconds.
func seconds(recovery time.Duration) string {
	if recovery == never {
		return "never"
	}
	return fmt.Sprintf("%.2f", recovery.Seconds())
}
