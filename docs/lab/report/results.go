// The results of benchmarks, and how two implementations compare.

package report

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"
)

// Results are the results of benchmarks.
type Results struct {
	Config map[string]string // the lines of the form "key: value" above the results
	values map[key][]float64 // in the order of the rounds
}

type key struct{ bench, unit string }

// suffix matches the end of a benchmark's name that package testing adds: #01 if the name is not
// the first of its kind, and the number of processors.
var suffix = regexp.MustCompile(`(#\d+)?(-\d+)?$`)

// Read reads results. It converts their units as benchfmt does: sec/op for ns/op.
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
			name := suffix.ReplaceAllString(string(record.Name.Full()), "")
			for _, value := range record.Values {
				k := key{name, value.Unit}
				r.values[k] = append(r.values[k], value.Value)
			}
		}
	}
	return r, reader.Err()
}

// Values returns the values of all rounds.
func (r *Results) Values(bench, unit string) []float64 { return r.values[key{bench, unit}] }

// A Row compares implementations in one unit of one benchmark.
type Row struct {
	Name  string // the first cell of the row
	Bench string // the name of the benchmark, without its last part, which names the implementation
	Unit  string
	Sum   bool // show the sum of all rounds instead of their median
}

// moreIsBetter has the units with which the greater value is the better one. With all others, it is
// the smaller one.
var moreIsBetter = map[string]bool{"events": true, "delivered": true, "events/s": true, "reads/s": true}

// A Comparison is the result of a row.
type Comparison struct {
	Cells        []string // name, client-go's value, our value, their ratio, and its least and greatest in one round
	Theirs, Ours float64
	Ratio        float64   // how many times better our value is
	Ratios       []float64 // the ratio of each round
}

// Compare compares client-go's values of a row with those of an implementation of ours.
func (r *Results) Compare(row Row, implementation string) (c Comparison, err error) {
	theirs := r.Values(row.Bench+"/informer="+Theirs, row.Unit)
	ours := r.Values(row.Bench+"/informer="+implementation, row.Unit)
	if len(theirs) == 0 || len(theirs) != len(ours) {
		return c, fmt.Errorf("%s: %s was measured %d times of client-go's and %d times of %s",
			row.Bench, row.Unit, len(theirs), len(ours), implementation)
	}
	for i := range ours {
		c.Ratios = append(c.Ratios, row.ratio(theirs[i], ours[i]))
	}
	c.Theirs, c.Ours = row.total(theirs), row.total(ours)
	c.Ratio = row.ratio(c.Theirs, c.Ours)
	c.Cells = []string{row.Name, Value(c.Theirs, row.Unit), Value(c.Ours, row.Unit), fmt.Sprintf("%.2f ×", c.Ratio),
		fmt.Sprintf("%.2f to %.2f", slices.Min(c.Ratios), slices.Max(c.Ratios))}
	return c, nil
}

// total returns the sum or the median of the values.
func (row Row) total(values []float64) float64 {
	if !row.Sum {
		sorted := slices.Clone(values) // NewSample sorts its argument
		sample := benchmath.NewSample(sorted, &benchmath.DefaultThresholds)
		return benchmath.AssumeNothing.Summary(sample, 0.95).Center
	}
	sum := 0.0
	for _, value := range values {
		sum += value
	}
	return sum
}

// ratio returns how many times better our value is.
func (row Row) ratio(theirs, ours float64) float64 {
	if theirs == ours { // for example, if both are 0
		return 1
	}
	if moreIsBetter[row.Unit] {
		return ours / theirs
	}
	return theirs / ours
}
