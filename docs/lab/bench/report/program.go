// The frame of a program that measures.

package report

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"example.com/informer/scripts/harness/workspace"
)

// A Program measures the two, prints a table, and writes it and the results to
// its folder in docs.
type Program struct {
	Name string // of its folder, too

	// Measure returns results in the format of Go benchmarks, with a line
	// "machine: …" before them. Quick is one small run, to see that it works.
	Measure func(ctx context.Context, quick bool, progress io.Writer) (results string, err error)

	// Table makes the table. With a table, an error says what is wrong with
	// the results.
	Table func(*Results) (string, error)
}

// Main runs the program until its end or Ctrl-C.
func (p Program) Main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	if err := p.Run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", p.Name, err)
		os.Exit(1)
	}
}

// Run is Main without the process around it.
func (p Program) Run(ctx context.Context, args []string, stdout, progress io.Writer) error {
	flags := flag.NewFlagSet(p.Name, flag.ExitOnError)
	quick := flags.Bool("quick", false,
		"a small run, to see that it works; its numbers mean nothing and are kept only with -o")
	again := flags.Bool("table", false, "measure nothing: make the table anew, of the results in the folder")
	folder := flags.String("o", "", "the `folder` for table.txt and results.txt (default docs/"+p.Name+")")
	flags.Parse(args)
	if *folder == "" && !*quick {
		root, err := workspace.Root(".")
		if err != nil {
			return err
		}
		*folder = filepath.Join(root, "docs", p.Name)
	}
	if *again {
		p.Measure = func(context.Context, bool, io.Writer) (string, error) {
			results, err := os.ReadFile(filepath.Join(*folder, "results.txt"))
			return string(results), err
		}
	}
	results, err := p.Measure(ctx, *quick, progress)
	if ctx.Err() != nil {
		return errors.New("stopped, nothing was written")
	} else if err != nil {
		return err
	}
	r, err := Read(results)
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
		os.WriteFile(filepath.Join(*folder, "results.txt"), []byte(results), 0o644),
		os.WriteFile(filepath.Join(*folder, "table.txt"), []byte(table), 0o644))
}
