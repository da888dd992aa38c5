// Tests of values, rows and columns.

package report

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestValue(t *testing.T) {
	for _, test := range []struct {
		value      float64
		unit, want string
	}{
		{0.0810929, "sec/op", "81.09ms"},
		{12.3e-6, "p50-sec", "12.30µs"},
		{1.7719e9, "held-B", "1.650GiB"},
		{110.23, "B/pod", "110.2B"},
		{9, "allocs/op", "9"},
		{120_000, "events", "120,000"},
		{1_440_123, "reads/s", "1.440M"},
	} {
		if got := Value(test.value, test.unit); got != test.want {
			t.Errorf("Value(%v, %q) = %q, want %q", test.value, test.unit, got, test.want)
		}
	}
}

func TestCount(t *testing.T) {
	if got, want := Count(1_000_000), "1,000,000"; got != want {
		t.Errorf("Count(1000000) = %q, want %q", got, want)
	}
	if got, want := Count(1.5), "1.5"; got != want {
		t.Errorf("Count(1.5) = %q, want %q", got, want)
	}
}

const twoRounds = `machine: a small one
BenchmarkX/n=1/informer=client-go-2 	 10 	 4000 ns/op 	 0 requests 	 4 events
BenchmarkX/n=1/informer=ours-2 	 10 	 1000 ns/op 	 0 requests 	 1 events
BenchmarkX/n=1/informer=ours#01-2 	 10 	 3000 ns/op 	 0 requests 	 3 events
BenchmarkX/n=1/informer=client-go#01 	 10 	 6000 ns/op 	 0 requests 	 6 events
`

func TestCompare(t *testing.T) {
	results, err := Read(twoRounds)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := results.Config["machine"], "a small one"; got != want {
		t.Errorf("Config[machine] = %q, want %q", got, want)
	}
	for _, test := range []struct {
		row   Row
		cells []string // without the name
		ratio float64
	}{
		{
			row:   Row{Name: "time", Unit: "sec/op"},
			cells: []string{"5.000µs", "2.000µs", "2.50 ×", "2.00 to 4.00"}, ratio: 2.5,
		},
		{
			row:   Row{Name: "sum", Unit: "sec/op", Sum: true},
			cells: []string{"10.00µs", "4.000µs", "2.50 ×", "2.00 to 4.00"}, ratio: 2.5,
		},
		{
			row:   Row{Name: "more is better", Unit: "events"},
			cells: []string{"5", "2", "0.40 ×", "0.25 to 0.50"}, ratio: 0.4,
		},
		{
			row:   Row{Name: "requests", Unit: "requests"},
			cells: []string{"0", "0", "1.00 ×", "1.00 to 1.00"}, ratio: 1,
		},
	} {
		t.Run(test.row.Name, func(t *testing.T) {
			test.row.Bench = "X/n=1"
			got, err := results.Compare(test.row, "ours")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(append([]string{test.row.Name}, test.cells...), got.Cells); diff != "" {
				t.Errorf("Cells differ (-want +got):\n%s", diff)
			}
			if got.Ratio != test.ratio {
				t.Errorf("Ratio = %v, want %v", got.Ratio, test.ratio)
			}
		})
	}
}

func TestCompareFailsForABenchmarkWithoutResults(t *testing.T) {
	results, err := Read(twoRounds)
	if err != nil {
		t.Fatal(err)
	}
	if c, err := results.Compare(Row{Bench: "X/n=2", Unit: "sec/op"}, "ours"); err == nil {
		t.Errorf("Compare() = %+v, want an error", c)
	}
}

func TestReadFailsForALineThatIsNoResult(t *testing.T) {
	if results, err := Read("BenchmarkX 1 fast ns/op"); err == nil {
		t.Errorf("Read() = %+v, want an error", results)
	}
}

func TestAlign(t *testing.T) {
	got := Align([][]string{{"a heading that is long"}, {"what", "×", ""}, {"one", "10 µs", "yes"}, {"two", "5", ""}})
	want := "a heading that is long\nwhat  ×\none   10 µs  yes\ntwo   5\n"
	if got != want {
		t.Errorf("Align() =\n%s\nwant\n%s", got, want)
	}
}
