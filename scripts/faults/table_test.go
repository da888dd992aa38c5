package main

import (
	"strings"
	"testing"
	"time"

	"example.com/informer/scripts/faults/bout"
	"example.com/informer/scripts/faults/catalog"
)

func TestTable(t *testing.T) {
	var runs []outcome
	add := func(fault string, a, b time.Duration, wrong int) {
		runs = append(runs, outcome{
			ours:             {Fault: fault, Subject: ours, Events: 1000, Recovery: a},
			catalog.ClientGo: {Fault: fault, Subject: catalog.ClientGo, Events: 900, Recovery: b, Wrong: wrong},
		})
	}
	add("reset", 30*time.Millisecond, time.Second, 0)
	add("nameless", 10*time.Millisecond, 10*time.Millisecond, 2)
	add("reset", 10*time.Millisecond, 3*time.Second, 0)
	add("reset", 2010*time.Millisecond, 2*time.Second, 0)
	add("nameless", 2*time.Second, 0, 2)
	add("nameless", 2*time.Second, time.Second, 2)
	got := strings.Fields(table([]bout.Fault{{Name: "reset"}, {Name: "not run"}, {Name: "nameless"}}, runs))
	want := strings.Fields(`fault runs events lost true after, median worst first
		reset 3 3,000 / 2,700 0 / 0 0.03 / 2.00 2.01 / 3.00 2 / 0
		nameless 3 3,000 / 2,700 0 / 6 2.00 / 1.00 2.00 / never 1 / 1`)
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
