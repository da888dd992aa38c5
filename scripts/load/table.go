// The table.

package main

import (
	"fmt"
	"math"
	"slices"
	"time"

	"example.com/informer/scripts/bench/report"
	"example.com/informer/scripts/load/subject"
)

// A row is one thing that was measured several times. Less is better.
type row struct {
	what, panel string // in the table and in the picture; not drawn if it is empty there
	values      func(*side) []float64
	total       func([]float64) float64 // what is shown of them
	unit        unit
}

type unit struct {
	show  func(float64) string
	bytes bool
}

var (
	times  = unit{show: report.Duration}
	sizes  = unit{report.Memory, true}
	counts = unit{show: report.Plain}
)

func (m *measured) rows() []row {
	syncs := func(s *side) []subject.Report { return s.syncs }
	synced := func(s *side) []subject.Report { return s.synced }
	changes := func(s *side) []subject.Report { return s.slices }
	after := func(s *side) []subject.Report { return []subject.Report{s.after} }
	during := fmt.Sprintf(" during %v s of changes", (time.Duration(m.slices) * m.slice).Seconds())
	return []row{
		{"time to sync", "time to sync", each(syncs, elapsed), report.Median, times},
		{"CPU to sync", "CPU to sync", each(syncs, cpu), report.Median, times},
		{"bytes received to sync", "", each(syncs, received), report.Median, sizes},
		{"requests to sync", "", each(syncs, requested), report.Median, counts},
		{"heap held after the sync", "", each(synced, heap), report.Median, sizes},
		{"most memory resident until then", "", each(synced, peak), report.Median, sizes},
		{"lag of an event, median", "lag of an event, median", each(changes, median), report.Median, times},
		{"lag of an event, 99th percentile", "", each(changes, p99), report.Median, times},
		{"CPU" + during, "CPU" + during, each(changes, cpu), sum, times},
		{"bytes received" + during, "", each(changes, received), sum, sizes},
		{"requests" + during, "", each(changes, requested), sum, counts},
		{"heap held after the changes", "heap held after the changes", each(after, heap), report.Median, sizes},
		{"most memory resident, ever", "most memory resident", each(after, peak), report.Median, sizes},
	}
}

// What a report says.
func elapsed(r subject.Report) float64   { return float64(r.Elapsed) }
func cpu(r subject.Report) float64       { return float64(r.CPU) }
func received(r subject.Report) float64  { return float64(r.Bytes) }
func requested(r subject.Report) float64 { return float64(r.Requests) }
func median(r subject.Report) float64    { return float64(r.Median) }
func p99(r subject.Report) float64       { return float64(r.P99) }
func heap(r subject.Report) float64      { return float64(r.Heap) }
func peak(r subject.Report) float64      { return float64(r.Peak) }

// each reads one thing out of some of a side's reports.
func each(reports func(*side) []subject.Report, value func(subject.Report) float64) func(*side) []float64 {
	return func(s *side) (values []float64) {
		for _, r := range reports(s) {
			values = append(values, value(r))
		}
		return values
	}
}

func sum(values []float64) (total float64) {
	for _, value := range values {
		total += value
	}
	return total
}

// table returns the head, which says where and how this was measured, and the
// rows for each number of objects.
func table(m *measured) string {
	lines := [][]string{{"what", "client-go", "ours", "ratio", "spread", "ours is"}}
	for _, s := range m.bySize {
		lines = append(lines, []string{""}, []string{s.heading()}, s.delivered(), s.missed())
		for _, r := range m.rows() {
			lines = append(lines, r.cells(s))
		}
	}
	return head(m) + "\n" + report.Aligned(lines)
}

func head(m *measured) string {
	return machine(m) + fmt.Sprintf(`
ConfigMaps of 1 KiB over protobuf from one API server; %d handlers; each factory in a process of its own
sync: %d rounds, one after the other, taking turns; changes: both at the same time, measured in slices of %v s
shown: medians of rounds or slices, and sums where it says during
ratio: how many times less ours needs; spread: the least and the most of it in one round or slice
ours is the same: within %v %%; better or worse: in three of four rounds or slices at least; noise: what is neither
`, m.handlers, m.rounds, m.slice.Seconds(), 100*within)
}

func machine(m *measured) string { return report.Machine(m.date, report.CPU(), report.ClientGo()) }

func (s *sized) heading() string {
	text := fmt.Sprintf("%s ConfigMaps, %.0f changes a second", report.Grouped(s.objects), float64(s.changes)/s.seconds)
	if s.busy < 0 {
		return text
	}
	return text + fmt.Sprintf(", all cores %.0f %% busy", 100*s.busy)
}

// delivered compares what handlers were told with what has happened.
func (s *sized) delivered() []string {
	theirs, ours := s.sides[report.Theirs].end, s.sides[report.Ours].end
	return []string{"events delivered", report.Grouped(theirs.Events), report.Grouped(ours.Events), "", "",
		verdict(float64(ours.Events) / float64(theirs.Events))}
}

func (s *sized) missed() []string {
	theirs, ours := s.sides[report.Theirs].end.Lost, s.sides[report.Ours].end.Lost
	return []string{"objects lost", report.Grouped(theirs), report.Grouped(ours), "", "", verdict(float64(theirs+1) / float64(ours+1))}
}

func (r row) cells(s *sized) []string {
	theirs, ours := r.values(s.sides[report.Theirs]), r.values(s.sides[report.Ours])
	a, b := r.total(theirs), r.total(ours)
	if a == b { // 0 requests, say
		return []string{r.what, r.unit.show(a), r.unit.show(b), report.Ratio(1), "", verdict(1)}
	}
	ratios := slices.Clone(theirs)
	for i := range ratios {
		ratios[i] /= ours[i]
	}
	return []string{r.what, r.unit.show(a), r.unit.show(b), report.Ratio(a / b),
		report.Spread(slices.Min(ratios), slices.Max(ratios)), verdict(a/b, ratios...)}
}

// within is what counts as the same.
const within = 0.02

// verdict says what a ratio means for ours, which was such in single rounds.
func verdict(ratio float64, single ...float64) string {
	agree := func(with func(float64) bool) bool {
		n := 0
		for _, r := range single {
			if with(r) {
				n++
			}
		}
		return 4*n >= 3*len(single)
	}
	switch {
	case math.Abs(ratio-1) <= within:
		return "the same"
	case ratio > 1 && agree(func(r float64) bool { return r > 1 }):
		return "better"
	case ratio < 1 && agree(func(r float64) bool { return r < 1 }):
		return "worse"
	}
	return "noise"
}
