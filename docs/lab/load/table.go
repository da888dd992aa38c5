// The table.

package main

import (
	"fmt"
	"math"
	"strings"

	"example.com/informer/docs/lab/bench/report"
)

// rows of each number of objects. Bench is without that number.
var rows = []report.Row{
	{What: "events delivered", Bench: "Handlers", Unit: "events", More: true},
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
		lines = append(lines, []string{""}, []string{heading(results, objects)},
			[]string{"what", "client-go", "ours", "ratio", "spread", "ours is"})
		for _, row := range rows {
			row.Bench += "/objects=" + objects
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
	text := head(results) + report.Align(lines)
	if lost > 0 {
		return text, fmt.Errorf("%v objects were lost on the way to a handler: see the table", lost)
	}
	return text, nil
}

func head(results *report.Results) string {
	return fmt.Sprintf(`%s
%s
sync: %s; changes: %s
shown: medians of rounds or slices, and sums where it says during
ratio: how many times better ours is; spread: the least and the most of it in one round or slice
ours is the same: within %v %%; better or worse: in three of four rounds or slices at least; noise: what is neither
`, results.Config["machine"], results.Config["load"], results.Config["sync"], results.Config["changes"], 100*within)
}

// heading says how much load there was. How busy the machine was may be unknown.
func heading(results *report.Results, objects string) string {
	text := objects + " ConfigMaps"
	for _, rate := range results.Values("Load/objects="+objects, "changes/s") {
		text += fmt.Sprintf(", %.0f changes a second", rate)
	}
	for _, busy := range results.Values("Load/objects="+objects, "busy-%") {
		text += fmt.Sprintf(", all cores %.0f %% busy", busy)
	}
	return text
}

// within is what counts as the same.
const within = 0.02

// verdict says what ours is. It is not that of benchstat, which does not know
// that the two are measured in pairs: in the same round, or at the same time.
func verdict(c report.Comparison) string {
	better, worse := 0, 0
	for _, ratio := range c.Ratios {
		if ratio > 1 {
			better++
		} else if ratio < 1 {
			worse++
		}
	}
	switch most := 3 * len(c.Ratios); {
	case math.Abs(c.Ratio-1) <= within:
		return "the same"
	case c.Ratio > 1 && 4*better >= most:
		return "better"
	case c.Ratio < 1 && 4*worse >= most:
		return "worse"
	}
	return "noise"
}
