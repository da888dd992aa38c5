package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"example.com/informer/scripts/faults/bout"
)

func TestTable(t *testing.T) {
	var results []bout.Result
	add := func(fault, subject string, wrong int, recoveries ...time.Duration) {
		for _, d := range recoveries {
			results = append(results, bout.Result{Fault: fault, Subject: subject, Events: 100, Wrong: wrong, Recovery: d, Verdict: errors.New("x")})
		}
	}
	add("reset", "ours", 0, 30*time.Millisecond, 10*time.Millisecond, 20*time.Millisecond)
	add("reset", "theirs", 0, time.Second, 3*time.Second, 2*time.Second)
	add("nameless", "ours", 0, 10*time.Millisecond, 20*time.Millisecond)
	add("nameless", "theirs", 2, 10*time.Millisecond, 0)
	var out strings.Builder
	err := writeTable(&out, []bout.Fault{{Name: "reset"}, {Name: "not run"}, {Name: "nameless"}}, []string{"ours", "theirs"}, results)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"fault runs ours: events wrong true after, p50 worst theirs: events wrong true after, p50 worst",
		"reset 3 300 0 0.02 s 0.03 s 300 0 2.00 s 3.00 s",
		"nameless 2 200 0 0.01 s 0.02 s 200 4 0.01 s never",
	}
	for n, line := range strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n") {
		if got := strings.Join(strings.Fields(line), " "); n >= len(want) || got != want[n] {
			t.Errorf("line %d is %q", n+1, got)
		}
	}
}
