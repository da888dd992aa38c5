// The frame of a program that measures.

package report

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"example.com/informer/scripts/harness/workspace"
)

// A Program runs the benchmarks of a package, prints a table, and writes it and
// the results to its folder.
type Program struct {
	Folder, Package string // below docs/lab

	Measure func(context.Context, *Run) error

	// Table makes the table. With a table, an error says what is wrong with
	// the results.
	Table func(*Results) (string, error)
}

// Main runs the program until its end or Ctrl-C.
func (p Program) Main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	if err := p.Run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", p.Folder, err)
		os.Exit(1)
	}
}

// Run is Main without the process around it.
func (p Program) Run(ctx context.Context, args []string, stdout, progress io.Writer) error {
	root, err := workspace.Root(".")
	if err != nil {
		return err
	}
	lab := filepath.Join(root, "docs", "lab")
	flags := flag.NewFlagSet(p.Folder, flag.ExitOnError)
	quick := flags.Bool("quick", false,
		"a small run, to see that it works; its numbers mean nothing and are kept only with -o")
	again := flags.Bool("table", false, "measure nothing: make the table anew, of the results in the folder")
	folder := flags.String("o", "", "the `folder` for table.txt and results.txt (default docs/lab/"+p.Folder+")")
	flags.Parse(args)
	if flags.NArg() > 0 {
		return fmt.Errorf("it takes no argument, and got %q; -h lists the flags", flags.Args())
	}
	if *folder == "" && !*quick {
		*folder = filepath.Join(lab, p.Folder)
	}
	var results []byte
	if *again {
		results, err = os.ReadFile(filepath.Join(*folder, "results.txt"))
	} else {
		results, err = p.measure(ctx, filepath.Join(lab, p.Package), *quick, progress)
	}
	if ctx.Err() != nil {
		return errors.New("stopped, nothing was written")
	} else if err != nil {
		return err
	}
	r, err := Read(string(results))
	if err != nil {
		return err
	}
	table, err := p.Table(r)
	fmt.Fprint(stdout, table)
	if table == "" || *folder == "" {
		return err
	}
	return errors.Join(err,
		os.MkdirAll(*folder, 0o755),
		os.WriteFile(filepath.Join(*folder, "results.txt"), results, 0o644),
		os.WriteFile(filepath.Join(*folder, "table.txt"), []byte(table), 0o644))
}

// A Run runs benchmarks and keeps their results.
type Run struct {
	Quick    bool // one small run, to see that it works
	Progress io.Writer
	Dir      string // for files; it is removed in the end

	results strings.Builder
}

func (p Program) measure(ctx context.Context, pkg string, quick bool, progress io.Writer) (results []byte, err error) {
	machine, err := Machine()
	if err != nil {
		return nil, err
	}
	r := &Run{Quick: quick, Progress: progress}
	if r.Dir, err = os.MkdirTemp("", p.Folder+"-"); err != nil {
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

// Bench runs a benchmark with all that are inside it, in a process of its own with
// this added to its environment. It runs for as long as -benchtime would say.
func (r *Run) Bench(ctx context.Context, name, benchtime string, environment ...string) error {
	cmd := exec.CommandContext(ctx, r.binary(), "-test.run=^$", "-test.benchtime="+benchtime,
		fmt.Sprintf("-test.short=%t", r.Quick), "-test.bench=^Benchmark"+strings.ReplaceAll(name, "/", "$/^")+"$")
	cmd.Env = append(os.Environ(), environment...)
	cmd.Stderr = r.Progress
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return err
	}
	results, others := 0, ""
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		if line := lines.Text() + "\n"; strings.HasPrefix(line, "Benchmark") {
			results++
			r.results.WriteString(line)
			fmt.Fprint(r.Progress, line)
		} else {
			others += line
		}
	}
	if err := cmd.Wait(); err != nil || results == 0 {
		return fmt.Errorf("%s: %d results, error %w\n%s", name, results, err, others)
	}
	return nil
}
