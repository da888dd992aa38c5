// The table of what came of the faults, the contenders side by side.

package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"example.com/informer/scripts/faults/bout"
)

// A row is what came of one fault for one contender, however often it was run.
type row struct {
	runs, events, wrong int
	recoveries          []time.Duration // of the runs after which the store became true
}

// writeTable writes a line for each fault that was run, in the order of faults.
func writeTable(w io.Writer, faults []bout.Fault, names []string, results []bout.Result) error {
	rows := map[[2]string]*row{}
	for _, r := range results {
		at := [2]string{r.Fault, r.Subject}
		if rows[at] == nil {
			rows[at] = &row{}
		}
		rows[at].add(r)
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(table, "fault\truns")
	for _, name := range names {
		fmt.Fprintf(table, "\t%s: events\twrong\ttrue after, p50\tworst", name)
	}
	fmt.Fprintln(table, "\t")
	for _, fault := range faults {
		for n, name := range names {
			r := rows[[2]string{fault.Name, name}]
			if r == nil {
				continue
			}
			if n == 0 {
				fmt.Fprintf(table, "%s\t%d", fault.Name, r.runs)
			}
			fmt.Fprintf(table, "\t%d\t%d\t%s\t%s", r.events, r.wrong, r.quantile(0.5), r.quantile(1))
			if n == len(names)-1 {
				fmt.Fprintln(table, "\t")
			}
		}
	}
	return table.Flush()
}

func (r *row) add(result bout.Result) {
	r.runs++
	r.events += result.Events
	r.wrong += result.Wrong
	if result.Recovery > 0 {
		r.recoveries = append(r.recoveries, result.Recovery)
	}
}

// quantile is the time within which that part of the runs had a true store.
func (r *row) quantile(q float64) string {
	slices.Sort(r.recoveries)
	n := int(float64(r.runs)*q+0.5) - 1
	if n = max(n, 0); n >= len(r.recoveries) {
		return "never"
	}
	return fmt.Sprintf("%.2f s", r.recoveries[n].Seconds())
}
