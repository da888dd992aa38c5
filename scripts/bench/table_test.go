// Tests of what is made of the measurements.

package main

import (
	"strings"
	"testing"
)

// twoRounds is a run of one benchmark.
func twoRounds() *measured {
	return &measured{rounds: 2, config: map[string]string{"cpu": "A <& B"}, values: map[key][]float64{
		{"X", theirs, "ns/op"}: {4000, 6000},
		{"X", ours, "ns/op"}:   {1000, 3000},
	}}
}

func TestRowsSayWhatWasReached(t *testing.T) {
	for wanted, want := range map[float64]string{
		2.5: "X  5.00 µs  2.00 µs  2.50 ×  2.00 to 4.00  2.5 ×  yes",
		2.6: "X  5.00 µs  2.00 µs  2.50 ×  2.00 to 4.00  2.6 ×  not reached",
	} {
		r := row{"X", "X", "ns/op", duration, wanted}
		if got := strings.Join(r.cells(twoRounds()), "  "); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestPictureOfAnyMachineAndAnyOrder(t *testing.T) {
	m := twoRounds()
	p := []panel{{title: "t", xAxis: "n", bench: []string{"X"}, x: []int{1}}}
	wantXML(t, picture(m, p))
	k := key{"X", ours, "ns/op"}
	m.values[k] = []float64{1e6, 1e6}
	wantXML(t, picture(m, p))
}

func TestNumbers(t *testing.T) {
	for got, want := range map[string]string{
		duration(9.5):      "9.50 ns",
		duration(999.6):    "1.00 µs",
		duration(123456):   "123 µs",
		duration(1.5e13):   "15000 s",
		memory(1.7719e9):   "1.77 GB",
		perSecond(3450):    "290,000",
		perSecond(2e9):     "1",
		plain(1.5):         "1.5",
		grouped(1_000_000): "1,000,000",
		power(2):           "100 ns",
		power(4):           "10 µs",
		power(10):          "10 s",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
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
