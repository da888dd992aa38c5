// What was measured, and how the two compare.

package report

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"
)

// Results are those of some benchmarks.
type Results struct {
	Config map[string]string // the lines of the form "key: value" at the begin
	values map[key][]float64 // in the order of rounds
}

type key struct{ bench, unit string }

// ending is what Go adds to a name: that it was there before, and how many
// processors there are.
var ending = regexp.MustCompile(`(#\d+)?(-\d+)?$`)

// Read reads results. Units become those of benchfmt: sec/op for ns/op.
func Read(text string) (*Results, error) {
	r := &Results{Config: map[string]string{}, values: map[key][]float64{}}
	reader := benchfmt.NewReader(strings.NewReader(text), "results.txt")
	for reader.Scan() {
		switch record := reader.Result().(type) {
		case *benchfmt.SyntaxError:
			return nil, record
		case *benchfmt.Result:
			for _, config := range record.Config {
				r.Config[config.Key] = string(config.Value)
			}
			name := ending.ReplaceAllString(string(record.Name.Full()), "")
			for _, value := range record.Values {
				k := key{name, value.Unit}
				r.values[k] = append(r.values[k], value.Value)
			}
		}
	}
	return r, reader.Err()
}

// Values are those of all rounds.
func (r *Results) Values(bench, unit string) []float64 { return r.values[key{bench, unit}] }

// A Row compares the two in one unit of one benchmark.
type Row struct {
	What        string
	Bench, Unit string // Bench is without its last part, which names the informer
	Sum         bool   // shown is the sum of all rounds; else their median
}

// moreIsBetter of these units, and less is of others.
var moreIsBetter = map[string]bool{"events": true, "delivered": true, "events/s": true, "reads/s": true}

// A Comparison is what came of a row.
type Comparison struct {
	Cells        []string // what, client-go's value, ours, their ratio, and its least and most in one round
	Theirs, Ours float64
	Ratio        float64   // how many times better ours is
	Ratios       []float64 // the same, round by round
}

// Compare fills a row.
func (r *Results) Compare(row Row) (c Comparison, err error) {
	theirs := r.Values(row.Bench+"/informer="+Theirs, row.Unit)
	ours := r.Values(row.Bench+"/informer="+Ours, row.Unit)
	if len(theirs) == 0 || len(theirs) != len(ours) {
		return c, fmt.Errorf("%s: %s was measured %d times of client-go's and %d times of ours",
			row.Bench, row.Unit, len(theirs), len(ours))
	}
	for i := range ours {
		c.Ratios = append(c.Ratios, row.ratio(theirs[i], ours[i]))
	}
	c.Theirs, c.Ours = row.total(theirs), row.total(ours)
	c.Ratio = row.ratio(c.Theirs, c.Ours)
	c.Cells = []string{row.What, Value(c.Theirs, row.Unit), Value(c.Ours, row.Unit), fmt.Sprintf("%.2f ×", c.Ratio),
		fmt.Sprintf("%.2f to %.2f", slices.Min(c.Ratios), slices.Max(c.Ratios))}
	return c, nil
}

func (row Row) total(values []float64) (total float64) {
	if !row.Sum {
		sample := benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds) // which it sorts
		return benchmath.AssumeNothing.Summary(sample, 0.95).Center
	}
	for _, value := range values {
		total += value
	}
	return total
}

func (row Row) ratio(theirs, ours float64) float64 {
	if theirs == ours { // both 0, say
		return 1
	}
	if moreIsBetter[row.Unit] {
		return ours / theirs
	}
	return theirs / ours
}
