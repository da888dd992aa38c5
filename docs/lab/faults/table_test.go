// The table.

package main

import (
	"strings"
	"testing"
	"time"

	"example.com/informer/docs/lab/faults/catalog"
	"example.com/informer/docs/lab/faults/scenario"
)

func TestTable(t *testing.T) {
	var runs []results
	add := func(fault string, own, clientGo time.Duration, errs int) {
		runs = append(runs, results{
			ours: {Fault: fault, Implementation: ours, Events: 1000, Recovery: own},
			catalog.ClientGo: {
				Fault: fault, Implementation: catalog.ClientGo, Events: 900, Recovery: clientGo, Errors: errs,
			},
		})
	}
	add("reset", 30*time.Millisecond, time.Second, 0)
	add("nameless", 10*time.Millisecond, 10*time.Millisecond, 2)
	add("reset", 10*time.Millisecond, 3*time.Second, 0)
	add("reset", 2010*time.Millisecond, 2*time.Second, 0)
	add("nameless", 2*time.Second, 0, 2)
	add("nameless", 2*time.Second, time.Second, 2)
	got := strings.Fields(table([]scenario.Fault{{Name: "reset"}, {Name: "not run"}, {Name: "nameless"}}, runs))
	want := strings.Fields(`fault runs events errors recovery, median worst first
		reset 3 2,700 / 3,000 0 / 0 2.00 / 0.03 3.00 / 2.01 0 / 2
		nameless 3 2,700 / 3,000 6 / 0 1.00 / 2.00 never / 2.00 1 / 1`)
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
