package main

import (
	"fmt"
	"strings"
	"testing"

	"example.com/informer/docs/lab/bench/report"
)

func TestVerdicts(t *testing.T) {
	for _, test := range []struct {
		theirs, ours []int
		want         string
	}{
		{[]int{4, 6, 8, 8}, []int{2, 2, 2, 9}, "better"},
		{[]int{4, 6, 8, 8}, []int{2, 2, 9, 9}, "noise"},
		{[]int{4, 4}, []int{8, 16}, "worse"},
		{[]int{100, 100}, []int{101, 102}, "the same"},
		{[]int{0, 0}, []int{0, 0}, "the same"},
	} {
		var text strings.Builder
		for i := range test.theirs {
			fmt.Fprintf(&text, "BenchmarkX/informer=client-go 1 %d requests\n", test.theirs[i])
			fmt.Fprintf(&text, "BenchmarkX/informer=ours 1 %d requests\n", test.ours[i])
		}
		results, err := report.Read(text.String())
		if err != nil {
			t.Fatal(err)
		}
		c, err := results.Compare(report.Row{Bench: "X", Unit: "requests"})
		if got := verdict(c); got != test.want || err != nil {
			t.Errorf("%v and %v: %s, %v, want %s", test.theirs, test.ours, got, err, test.want)
		}
	}
}

func TestWhatIsLostIsSaid(t *testing.T) {
	text := read(t, ".", "results.txt")
	results, err := report.Read(strings.Replace(text, " 0 lost", " 1 lost", 1))
	if err != nil {
		t.Fatal(err)
	}
	got, err := table(results)
	if err == nil || !strings.HasPrefix(err.Error(), "1 objects were lost") || got == "" {
		t.Errorf("error %v, table\n%s", err, got)
	}
}
