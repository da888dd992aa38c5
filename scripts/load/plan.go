// What is measured.

package main

import (
	"strings"
	"time"

	"example.com/informer/scripts/bench/report"
)

// A plan is all of one run.
type plan struct {
	sizes    []int // how many ConfigMaps, growing
	handlers int
	rounds   int           // how often each syncs with each number of objects
	rate     int           // changes a second
	slices   int           // in how many parts the time of changes is measured
	slice    time.Duration // how long each is
}

// fullPlan takes about five minutes on two cores. Its rate leaves them idle for
// nearly half of the time, though the API server, etcd, who makes the changes and both
// factories share them: what is measured is not who gets a core.
func fullPlan() plan {
	return plan{sizes: []int{1000, 10_000, 50_000}, handlers: 10, rounds: 5, rate: 200, slices: 6, slice: 10 * time.Second}
}

// quickPlan takes seconds, and shows only that everything works.
func quickPlan() plan {
	return plan{sizes: []int{100, 300}, handlers: 10, rounds: 2, rate: 50, slices: 2, slice: time.Second}
}

func numbers(all []int) string {
	var texts []string
	for _, n := range all {
		texts = append(texts, report.Plain(float64(n)))
	}
	return strings.Join(texts, ",")
}
