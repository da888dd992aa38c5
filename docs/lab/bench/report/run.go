// A run of benchmarks.

package report

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A Run runs benchmarks and keeps their results.
type Run struct {
	Quick    bool // a small run, to see that it works
	Progress io.Writer
	Dir      string // for temporary files; it is removed after the run

	results strings.Builder
}

// measure builds the benchmarks of a package, and runs them.
func (p Program) measure(ctx context.Context, pkg string, quick bool, progress io.Writer) (results []byte, err error) {
	machine, err := Machine()
	if err != nil {
		return nil, err
	}
	r := &Run{Quick: quick, Progress: progress}
	r.Dir, err = os.MkdirTemp("", p.Folder+"-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(r.Dir)
	fmt.Fprintln(progress, "building the benchmarks")
	build := exec.CommandContext(ctx, "go", "test", "-c", "-o", r.binary(), ".")
	build.Dir = pkg
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building the benchmarks: %w\n%s", err, out)
	}
	r.Config("machine", machine)
	err = p.Measure(ctx, r)
	return []byte(r.results.String()), err
}

func (r *Run) binary() string { return filepath.Join(r.Dir, "benchmarks.test") }

// Config adds a line "key: value" to the results.
func (r *Run) Config(key, value string) { fmt.Fprintf(&r.results, "%s: %s\n", key, value) }

// Bench runs a benchmark and its sub-benchmarks in a process of its own, with these variables added
// to its environment. Benchtime is the argument of -benchtime.
func (r *Run) Bench(ctx context.Context, name, benchtime string, environment ...string) error {
	cmd := exec.CommandContext(ctx, r.binary(), "-test.run=^$", "-test.benchtime="+benchtime,
		fmt.Sprintf("-test.short=%t", r.Quick), "-test.bench=^Benchmark"+strings.ReplaceAll(name, "/", "$/^")+"$")
	cmd.Env = append(os.Environ(), environment...)
	cmd.Stderr = r.Progress
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	results, others := r.read(stdout)
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("%s: %d results, and then: %w\n%s", name, results, err, others)
	}
	if results == 0 {
		return fmt.Errorf("%s: no results\n%s", name, others)
	}
	return nil
}

// read keeps the results in the output of a benchmark. It returns their number, and the other
// lines.
func (r *Run) read(output io.Reader) (results int, others string) {
	for lines := bufio.NewScanner(output); lines.Scan(); {
		line := lines.Text() + "\n"
		if !strings.HasPrefix(line, "Benchmark") {
			others += line
			continue
		}
		results++
		r.results.WriteString(line)
		fmt.Fprint(r.Progress, line)
	}
	return results, others
}
