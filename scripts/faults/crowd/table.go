// The table.

package main

import (
	"fmt"
	"slices"
	"time"

	"example.com/informer/scripts/bench/report"
)

// add adds those of another client, or of another kind.
func (f *figures) add(other *figures) {
	f.took = append(f.took, other.took...)
	f.bytes += other.bytes
	f.behind = max(f.behind, other.behind)
	f.wrong += other.wrong
}

// table says where and how this was measured, and what came of it.
func (o *outcome) table(date string) string {
	head := report.Machine(date, report.CPU(), report.ClientGo()) + fmt.Sprintf(`
Kubernetes %s; two namespaces with %s pods each, which are created, updated, deleted, and replaced at once
%d clients, each with a connection of its own; each source is asked for %v, in turns of %v at most
clients, which judge every answer, and servers share the cores
pages: of a chapter's server, from its store, over HTTP; 07 gives names, or names and phases; 08 whole pods
API server: over TLS, as its administrator, whom it does not hold back; whole pods, with managedFields
any version: resourceVersion=0, which the API server answers from its own cache, as it is
behind: for how long something else was known to be true when an answer was asked for
`, o.version, report.Grouped(o.objects), clients, o.duration, min(turn, o.duration))
	lines := [][]string{{"", "reads", "a second", "p50", "p99", "worst", "bytes each", "behind, at most", "changes a second", "wrong"}}
	for _, k := range append([]kind{every}, kinds...) {
		lines = append(lines, []string{""}, []string{title[k]})
		for _, s := range o.sources {
			if f := o.of(s, k); f != nil {
				lines = append(lines, o.cells(s, k, f))
			}
		}
	}
	return head + "\n" + report.Aligned(lines)
}

// of is what was measured of a source and a kind, which can be every.
func (o *outcome) of(s *source, k kind) *figures {
	if k != every {
		return o.asked[s][k]
	}
	total := &figures{wrong: o.wrong[s]}
	for _, f := range o.asked[s] {
		total.add(f)
	}
	return total
}

func (o *outcome) cells(s *source, k kind, f *figures) []string {
	seconds := o.lasted[s].Seconds()
	perSecond := func(n int) string { return report.Grouped(int(float64(n)/seconds + 0.5)) }
	n := len(f.took)
	if n == 0 {
		f = &figures{took: []time.Duration{0}, wrong: f.wrong}
	}
	slices.Sort(f.took)
	behind, changes := show(f.behind), ""
	switch k {
	case keys:
		behind = "" // a name does not say of when it is
	case every:
		changes = perSecond(o.changes[s])
	}
	return []string{
		"  " + s.name, report.Grouped(n), perSecond(n), f.quantile(0.5), f.quantile(0.99), f.quantile(1),
		report.Grouped(f.bytes / len(f.took)), behind, changes, report.Grouped(f.wrong),
	}
}

// quantile is the time within which that part of the answers came. They are sorted.
func (f *figures) quantile(q float64) string {
	return show(f.took[min(int(q*float64(len(f.took))), len(f.took)-1)])
}

func show(d time.Duration) string {
	if d <= 0 {
		return "0"
	}
	return report.Duration(float64(d))
}

// wrongs is how many answers were wrong.
func (o *outcome) wrongs() (n int) {
	for _, s := range o.sources {
		n += o.of(s, every).wrong
	}
	return n
}
