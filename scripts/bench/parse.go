// Reading the output of Go benchmarks.

package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// parsed is the output of one benchmark run.
type parsed struct {
	config  []string                      // lines like "cpu: …"
	lines   []string                      // lines like "BenchmarkX-2 100 12 ns/op"
	results map[string]map[string]float64 // by name, then by unit
}

var (
	configLine = regexp.MustCompile(`^[a-z][^\s:]*: `)
	processors = regexp.MustCompile(`-\d+$`) // that Go puts behind a name
)

func parse(output string) (parsed, error) {
	p := parsed{results: map[string]map[string]float64{}}
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		switch {
		case configLine.MatchString(line):
			p.config = append(p.config, line)
		case strings.HasPrefix(line, "Benchmark"):
			name, values, err := parseResult(line)
			if err != nil {
				return p, err
			}
			p.lines = append(p.lines, line)
			p.results[name] = values
		}
	}
	return p, nil
}

// parseResult reads a line: a name, how often it ran, and pairs of a number
// and its unit.
func parseResult(line string) (name string, values map[string]float64, err error) {
	fields := strings.Fields(line)
	if len(fields) < 4 || len(fields)%2 != 0 {
		return "", nil, fmt.Errorf("%q is no result of a benchmark", line)
	}
	values = map[string]float64{}
	for i := 2; i < len(fields); i += 2 {
		value, err := strconv.ParseFloat(fields[i], 64)
		if err != nil {
			return "", nil, fmt.Errorf("%q is no result of a benchmark: %w", line, err)
		}
		values[fields[i+1]] = value
	}
	return strings.TrimPrefix(processors.ReplaceAllString(fields[0], ""), "Benchmark"), values, nil
}
