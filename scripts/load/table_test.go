// Tests of what is made of the measurements.

package main

import (
	"strings"
	"testing"
	"time"

	"example.com/informer/scripts/bench/report"
	"example.com/informer/scripts/load/subject"
)

// synced returns two sides that took so many milliseconds to sync.
func synced(theirs, ours []int) *sized {
	s := &sized{objects: 1000, changes: 100, seconds: 2, sides: map[string]*side{report.Theirs: {}, report.Ours: {}}}
	for name, all := range map[string][]int{report.Theirs: theirs, report.Ours: ours} {
		for _, ms := range all {
			s.sides[name].syncs = append(s.sides[name].syncs, subject.Report{Elapsed: time.Duration(ms) * time.Millisecond})
		}
	}
	return s
}

func TestRowsSayWhatOursIs(t *testing.T) {
	row := (&measured{}).rows()[0]
	for _, test := range []struct {
		theirs, ours []int
		want         string
	}{
		{[]int{4, 6, 8, 8}, []int{2, 2, 2, 9}, "7.00 ms|2.00 ms|3.50 ×|0.89 to 4.00|better"},
		{[]int{4, 6, 8, 8}, []int{2, 2, 9, 9}, "7.00 ms|5.50 ms|1.27 ×|0.89 to 3.00|noise"},
		{[]int{4, 4}, []int{8, 16}, "4.00 ms|12.0 ms|0.33 ×|0.25 to 0.50|worse"},
		{[]int{100, 100}, []int{101, 102}, "100 ms|102 ms|0.99 ×|0.98 to 0.99|the same"},
		{[]int{0, 0}, []int{0, 0}, "0.00 ns|0.00 ns|1.00 ×||the same"},
	} {
		if got := strings.Join(row.cells(synced(test.theirs, test.ours)), "|"); got != "time to sync|"+test.want {
			t.Errorf("got  %s\nwant time to sync|%s", got, test.want)
		}
	}
}

func TestWhatIsLostIsSaid(t *testing.T) {
	s := synced(nil, nil)
	s.sides[report.Ours].end = subject.Report{Events: 990, Lost: 1}
	s.sides[report.Theirs].end = subject.Report{Events: 1000}
	if got := strings.Join(s.delivered(), "|"); got != "events delivered|1,000|990|||the same" {
		t.Error(got)
	}
	if got := strings.Join(s.missed(), "|"); got != "objects lost|0|1|||worse" {
		t.Error(got)
	}
	if m := (&measured{bySize: []*sized{s}}); m.lost() != 1 {
		t.Errorf("%d lost, want 1", m.lost())
	}
}

func TestHeadings(t *testing.T) {
	s := synced(nil, nil)
	for busy, want := range map[float64]string{
		-1:  "1,000 ConfigMaps, 50 changes a second",
		0.5: "1,000 ConfigMaps, 50 changes a second, all cores 50 % busy",
	} {
		s.busy = busy
		if got := s.heading(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := (cores{all: 30, idle: 15}).since(cores{all: 10, idle: 10}); got != 0.75 {
		t.Errorf("%v of the cores in use, want 0.75", got)
	}
	if got := (cores{}).since(cores{}); got >= 0 {
		t.Errorf("%v of unknown cores", got)
	}
}
