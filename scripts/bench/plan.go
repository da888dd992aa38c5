// What is measured, and what of it goes into the table and the picture.

package main

import (
	"fmt"

	"example.com/informer/scripts/bench/report"
)

// A plan is all of one run.
type plan struct {
	steps  []step
	rows   []row
	panels []panel
}

// A step is one benchmark of the package fanout, without the informer's name,
// and how long it runs, as -benchtime takes it: 1s, or 100x for a hundred times.
// It is the same for both informers.
type step struct{ bench, benchTime string }

// A row compares one unit of one benchmark. Less is better in all units; wanted
// is how many times better ours has to be at least.
type row struct {
	what, bench, unit string
	show              func(float64) string
	wanted            float64
}

// A panel is one drawing of the picture: a time, as something else grows.
type panel struct {
	title, xAxis string
	bench        []string // one for each point
	x            []int
}

// amounts is what a full run and a quick one differ in.
type amounts struct {
	handlers []int // at 1,000 objects
	objects  []int // at 10 handlers; the last are those of the sync in the table
	events   string
	many     string         // events, where the objects are many: all is made anew for each guess of what fills 1s
	syncs    map[int]string // first lists, by the number of objects
	single   string         // events sent one at a time
	updates  int            // that a stalled handler misses
}

// fullPlan takes about four minutes in five rounds, on two cores.
func fullPlan() plan {
	return newPlan(amounts{
		handlers: []int{1, 3, 10, 30, 100, 300, 1000},
		objects:  []int{1000, 10_000, 100_000},
		events:   "1s",
		many:     "100000x",
		syncs:    map[int]string{1000: "20x", 10_000: "5x", 100_000: "1x"},
		single:   "20000x",
		updates:  1_000_000,
	})
}

// quickPlan takes seconds, and shows only that everything works.
func quickPlan() plan {
	return newPlan(amounts{
		handlers: []int{1, 10, 100},
		objects:  []int{1000, 10_000},
		events:   "300x",
		many:     "300x",
		syncs:    map[int]string{1000: "1x", 10_000: "1x"},
		single:   "300x",
		updates:  10_000,
	})
}

func newPlan(a amounts) plan {
	var p plan
	byHandlers := panel{title: "time per event, 1,000 objects", xAxis: "handlers", x: a.handlers}
	for _, n := range a.handlers {
		byHandlers.bench = append(byHandlers.bench, p.step("Events", n, 1000, a.events))
	}
	byObjects := panel{title: "time per event, 10 handlers", xAxis: "objects", x: a.objects}
	syncs := panel{title: "time to sync, 10 handlers", xAxis: "objects", x: a.objects}
	for _, n := range a.objects {
		byObjects.bench = append(byObjects.bench, p.step("Events", 10, n, a.many))
		syncs.bench = append(syncs.bench, p.step("Sync", 10, n, a.syncs[n]))
	}
	p.panels = []panel{byHandlers, byObjects, syncs}
	latency := p.step("Latency", 10, 1000, a.single)
	stalled := p.step("Stalled", 1, 1000, fmt.Sprintf("%dx", a.updates))

	one, last := name("Events", 1, 1000), a.objects[len(a.objects)-1]
	p.rows = []row{
		{"events per second, 1 handler", one, "ns/op", report.PerSecond, 2},
		{"events per second, 10 handlers", name("Events", 10, 1000), "ns/op", report.PerSecond, 5},
		{"events per second, 100 handlers", name("Events", 100, 1000), "ns/op", report.PerSecond, 20},
		{"allocations per event, 1 handler", one, "allocs/op", report.Plain, 2},
		{fmt.Sprintf("first list of %s pods, until 10 handlers have synced", report.Grouped(last)), name("Sync", 10, last), "ns/op", report.Duration, 1.5},
		{fmt.Sprintf("heap held by a stalled handler, %s updates of 1,000 pods", report.Grouped(a.updates)), stalled, "held-B", report.Memory, 100},
		{"from watch event to handler, 10 handlers, median", latency, "p50-ns", report.Duration, 1},
		{"from watch event to handler, 10 handlers, 99th percentile", latency, "p99-ns", report.Duration, 1},
	}
	return p
}

// step plans a benchmark, once, and returns its name.
func (p *plan) step(bench string, handlers, objects int, benchTime string) string {
	bench = name(bench, handlers, objects)
	for _, s := range p.steps {
		if s.bench == bench {
			return bench
		}
	}
	p.steps = append(p.steps, step{bench, benchTime})
	return bench
}

func name(bench string, handlers, objects int) string {
	return fmt.Sprintf("%s/handlers=%d/objects=%d", bench, handlers, objects)
}
