package report

import (
	"strings"
	"testing"

	"example.com/informer/scripts/harness/expect"
)

func TestValues(t *testing.T) {
	for got, want := range map[string]string{
		Value(0.0810929, "sec/op"):  "81.09ms",
		Value(12.3e-6, "p50-sec"):   "12.30µs",
		Value(1.7719e9, "held-B"):   "1.650GiB",
		Value(110.23, "B/pod"):      "110.2B",
		Value(9, "allocs/op"):       "9",
		Value(120_000, "events"):    "120,000",
		Value(1_440_123, "reads/s"): "1.440M",
		Count(1_000_000):            "1,000,000",
		Count(1.5):                  "1.5",
	} {
		expect.That(t, got == want, "got %q, want %q", got, want)
	}
}

const twoRounds = `machine: a small one
BenchmarkX/n=1/informer=client-go-2 	 10 	 4000 ns/op 	 0 requests 	 4 events
BenchmarkX/n=1/informer=ours-2 	 10 	 1000 ns/op 	 0 requests 	 1 events
BenchmarkX/n=1/informer=ours#01-2 	 10 	 3000 ns/op 	 0 requests 	 3 events
BenchmarkX/n=1/informer=client-go#01 	 10 	 6000 ns/op 	 0 requests 	 6 events
`

func TestRows(t *testing.T) {
	results, err := Read(twoRounds)
	if err != nil || results.Config["machine"] != "a small one" {
		t.Fatalf("machine %q, error %v", results.Config["machine"], err)
	}
	for _, test := range []struct {
		row   Row
		want  string
		ratio float64
	}{
		{Row{What: "time", Unit: "sec/op"}, "time|5.000µs|2.000µs|2.50 ×|2.00 to 4.00", 2.5},
		{Row{What: "sum", Unit: "sec/op", Sum: true}, "sum|10.00µs|4.000µs|2.50 ×|2.00 to 4.00", 2.5},
		{Row{What: "more is better", Unit: "events"}, "more is better|5|2|0.40 ×|0.25 to 0.50", 0.4},
		{Row{What: "requests", Unit: "requests"}, "requests|0|0|1.00 ×|1.00 to 1.00", 1},
	} {
		test.row.Bench = "X/n=1"
		c, err := results.Compare(test.row)
		if got := strings.Join(c.Cells, "|"); got != test.want || c.Ratio != test.ratio || err != nil {
			t.Errorf("got %q, %v, %v, want %q, %v", got, c.Ratio, err, test.want, test.ratio)
		}
	}
	_, err = results.Compare(Row{Bench: "X/n=2", Unit: "sec/op"})
	expect.That(t, err != nil, "compared what was not measured")
	_, err = Read("BenchmarkX 1 fast ns/op")
	expect.That(t, err != nil, "read what is no result")
}

func TestAlign(t *testing.T) {
	got := Align([][]string{{"a heading that is long"}, {"what", "×", ""}, {"one", "10 µs", "yes"}, {"two", "5", ""}})
	want := "a heading that is long\nwhat  ×\none   10 µs  yes\ntwo   5\n"
	expect.That(t, got == want, "got\n%s\nwant\n%s", got, want)
}
