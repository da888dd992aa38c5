// Running the benchmarks.

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"example.com/informer/docs/lab/bench/report"
	"example.com/informer/scripts/harness/workspace"
)

// benchmarks of the package fanout, without the informer's name, and how long
// each runs, as -benchtime takes it: 1s, or 100x for a hundred times. It is the
// same for both informers. Where objects are many it is a number, because all of
// them are made anew for each guess of what fills 1s.
var benchmarks = []struct{ name, time string }{
	{"Events/handlers=1/objects=1000", "1s"},
	{"Events/handlers=10/objects=1000", "1s"},
	{"Events/handlers=100/objects=1000", "1s"},
	{"Events/handlers=1000/objects=1000", "1s"},
	{"Observed/handlers=1/objects=1000", "1s"},
	{"Events/handlers=10/objects=10000", "100000x"},
	{"Events/handlers=10/objects=100000", "100000x"},
	{"Sync/handlers=10/objects=1000", "20x"},
	{"Sync/handlers=10/objects=10000", "5x"},
	{"Sync/handlers=10/objects=100000", "1x"},
	{"Latency/handlers=10/objects=1000", "20000x"},
	{"Stalled/handlers=1/objects=1000", "1000000x"},
	{"Readers/readers=4/objects=100000", "3x"}, // seconds
	{"Readers/readers=16/objects=100000", "3x"},
	{"ReadersAtIntervals/readers=4/objects=100000/first", "12x"},
	{"ReadersAtIntervals/readers=4/objects=100000/later", "12x"},
	{"Join/handlers=20/objects=100000", "1x"},
	{"JoinLag/handlers=20/objects=100000", "1x"},
	{"Relist/handlers=1/objects=100000", "1x"},
	{"Deletes/handlers=1/objects=100000", "1x"},
	{"LateIndex/objects=100000", "5x"},
	{"Memory/objects=100000", "1x"},
}

// measure runs all benchmarks once in each of five rounds. Every measurement is
// a process of its own, so that none inherits another's heap; the two informers
// follow each other, so that what else the machine does hits both; and they take
// turns in being first. Quick is one round, with each benchmark doing its thing
// once, some of them with fewer pods than their names say.
func measure(ctx context.Context, quick bool, progress io.Writer) (string, error) {
	folder, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return "", fmt.Errorf("making a folder for the benchmarks' binary: %w", err)
	}
	defer os.RemoveAll(folder)
	binary := filepath.Join(folder, "fanout.test")
	fmt.Fprintln(progress, "building the benchmarks")
	if err := build(ctx, binary); err != nil {
		return "", err
	}
	machine, err := report.Machine()
	if err != nil {
		return "", err
	}
	results := "machine: " + machine + "\n"
	rounds := 5
	if quick {
		rounds = 1
	}
	order := []string{report.Theirs, report.Ours}
	for round := range rounds {
		for i, b := range benchmarks {
			fmt.Fprintf(progress, "round %d of %d, %d of %d: %s\n", round+1, rounds, i+1, len(benchmarks), b.name)
			if quick {
				b.time = "1x"
			}
			for _, informer := range order {
				result, err := run(ctx, binary, b.name+"/informer="+informer, b.time, quick)
				if err != nil {
					return "", fmt.Errorf("%s of %s: %w", b.name, informer, err)
				}
				results += result
			}
		}
		slices.Reverse(order)
	}
	return results, nil
}

// build compiles the benchmarks.
func build(ctx context.Context, binary string) error {
	root, err := workspace.Root(".")
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-o", binary, "./fanout")
	cmd.Dir = filepath.Join(root, "docs", "bench")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building the benchmarks: %w\n%s", err, out)
	}
	return nil
}

var resultLine = regexp.MustCompile(`(?m)^Benchmark.*\n`)

// run makes one measurement and returns the line that says what came of it.
func run(ctx context.Context, binary, name, benchTime string, quick bool) (string, error) {
	cmd := exec.CommandContext(ctx, binary, "-test.run=^$", "-test.benchmem", "-test.benchtime="+benchTime,
		fmt.Sprintf("-test.short=%t", quick), "-test.bench=^Benchmark"+strings.ReplaceAll(name, "/", "$/^")+"$")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	line := resultLine.Find(out)
	if line == nil {
		return "", fmt.Errorf("the package fanout has no such benchmark")
	}
	return string(line), nil
}
