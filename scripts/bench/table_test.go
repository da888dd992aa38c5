// Tests of what is made of the measurements.

package main

import (
	"strings"
	"testing"

	"example.com/informer/scripts/bench/report"
)

// twoRounds is a run of one benchmark.
func twoRounds() *measured {
	return &measured{rounds: 2, values: map[key][]float64{
		{"X", report.Theirs, "ns/op"}: {4000, 6000},
		{"X", report.Ours, "ns/op"}:   {1000, 3000},
	}}
}

func TestRowsSayWhatWasReached(t *testing.T) {
	for wanted, want := range map[float64]string{
		2.5: "X  5.00 µs  2.00 µs  2.50 ×  2.00 to 4.00  2.5 ×  yes",
		2.6: "X  5.00 µs  2.00 µs  2.50 ×  2.00 to 4.00  2.6 ×  not reached",
	} {
		r := row{"X", "X", "ns/op", report.Duration, wanted}
		if got := strings.Join(r.cells(twoRounds()), "  "); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestParseResult(t *testing.T) {
	name, values, err := parseResult("BenchmarkX/informer=client-go-2 \t 100 \t 12.5 ns/op \t 3 allocs/op")
	if err != nil || name != "X/informer=client-go" || values["ns/op"] != 12.5 || values["allocs/op"] != 3 {
		t.Errorf("got %q, %v, %v", name, values, err)
	}
	for _, line := range []string{"BenchmarkX", "BenchmarkX-2 100 fast ns/op", "BenchmarkX-2 100 1 ns/op 2"} {
		if _, err := parse(line); err == nil || !strings.Contains(err.Error(), line) {
			t.Errorf("%q: error %v, want one that names the line", line, err)
		}
	}
}
