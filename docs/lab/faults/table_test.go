// The table.

package main

import (
	"strings"
	"testing"
	"time"
)

func TestTable(t *testing.T) {
	var runs []results
	add := func(name string, own, theirs time.Duration, errs int) {
		runs = append(runs, results{
			ours:     {fault: name, implementation: ours, events: 1000, recovery: own},
			clientGo: {fault: name, implementation: clientGo, events: 900, recovery: theirs, errors: errs},
		})
	}
	add("reset", 30*time.Millisecond, time.Second, 0)
	add("nameless", 10*time.Millisecond, 10*time.Millisecond, 2)
	add("reset", 10*time.Millisecond, 3*time.Second, 0)
	add("reset", 2010*time.Millisecond, 2*time.Second, 0)
	add("nameless", 2*time.Second, never, 2)
	add("nameless", 2*time.Second, time.Second, 2)
	got := strings.Fields(table([]fault{{name: "reset"}, {name: "not run"}, {name: "nameless"}}, runs))
	want := strings.Fields(`fault runs events errors recovery, median worst first
		reset 3 2,700 / 3,000 0 / 0 2.00 / 0.03 3.00 / 2.01 0 / 2
		nameless 3 2,700 / 3,000 6 / 0 1.00 / 2.00 never / 2.00 1 / 1`)
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
