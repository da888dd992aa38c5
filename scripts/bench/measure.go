// Running the benchmarks.

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"example.com/informer/scripts/bench/report"
)

// A key names one thing that was measured.
type key struct{ bench, informer, unit string }

// A measured is what a run came to.
type measured struct {
	values map[key][]float64 // one for each round
	config map[string]string // what the benchmarks and their build say of themselves: cpu, goos, …
	rounds int
	raw    strings.Builder // everything, as benchstat reads it
}

// measure runs all steps once in each round. Every measurement is a process of
// its own, so that none inherits another's heap; the two informers follow each
// other, so that what else the machine does hits both; and they take turns in
// being first.
func measure(ctx context.Context, module string, steps []step, rounds int, progress io.Writer) (*measured, error) {
	folder, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return nil, fmt.Errorf("making a folder for the benchmark's binary: %w", err)
	}
	defer os.RemoveAll(folder)
	binary := filepath.Join(folder, "fanout.test")
	fmt.Fprintln(progress, "building the benchmarks")
	m := &measured{values: map[key][]float64{}, rounds: rounds}
	if err := m.build(ctx, module, binary); err != nil {
		return nil, err
	}
	order := []string{report.Theirs, report.Ours}
	for round := range rounds {
		for i, s := range steps {
			fmt.Fprintf(progress, "round %d of %d, %d of %d: %s\n", round+1, rounds, i+1, len(steps), s.bench)
			for _, informer := range order {
				if err := m.run(ctx, binary, s, informer); err != nil {
					return nil, err
				}
			}
		}
		slices.Reverse(order)
	}
	return m, nil
}

// build compiles the benchmarks and notes with what.
func (m *measured) build(ctx context.Context, module, binary string) error {
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-o", binary, "./fanout")
	cmd.Dir = module
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building the benchmarks: %w\n%s", err, out)
	}
	cmd = exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Version}}", "k8s.io/client-go")
	cmd.Dir = module
	version, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("asking go list for the version of client-go: %w", err)
	}
	m.config = map[string]string{
		"date": time.Now().Format(time.DateOnly), "go": runtime.Version(), "client-go": strings.TrimSpace(string(version)),
	}
	for _, k := range []string{"date", "go", "client-go"} {
		fmt.Fprintf(&m.raw, "%s: %s\n", k, m.config[k])
	}
	return nil
}

// run makes one measurement.
func (m *measured) run(ctx context.Context, binary string, s step, informer string) error {
	full := s.bench + "/informer=" + informer
	cmd := exec.CommandContext(ctx, binary,
		"-test.run=^$", "-test.benchmem", "-test.benchtime="+s.benchTime,
		"-test.bench=^Benchmark"+strings.ReplaceAll(full, "/", "$/^")+"$")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("running %s: %w\n%s", full, err, out)
	}
	found, err := parse(string(out))
	if err != nil {
		return fmt.Errorf("reading what %s printed: %w", full, err)
	}
	values, ok := found.results[full]
	if !ok {
		return errors.New("the package fanout has no benchmark " + full + ": is the plan out of step with it?")
	}
	for unit, value := range values {
		k := key{s.bench, informer, unit}
		m.values[k] = append(m.values[k], value)
	}
	m.note(found)
	return nil
}

// note keeps what benchstat needs; what is the same each time, once.
func (m *measured) note(found parsed) {
	for _, line := range found.config {
		k, value, _ := strings.Cut(line, ": ")
		if _, known := m.config[k]; !known {
			m.config[k] = value
			fmt.Fprintln(&m.raw, line)
		}
	}
	for _, line := range found.lines {
		fmt.Fprintln(&m.raw, line)
	}
}

// median of one thing over all rounds.
func (m *measured) median(bench, informer, unit string) float64 {
	return report.Median(m.values[key{bench, informer, unit}])
}
