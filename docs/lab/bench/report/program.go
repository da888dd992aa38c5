// A program that runs benchmarks: its flags, and the files that it writes.

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

// A Program runs the benchmarks of a package, prints a table, and writes the table and the results
// to its folder.
type Program struct {
	Folder  string // for table.txt and results.txt, below docs/lab
	Package string // with the benchmarks, below docs/lab

	// Measure runs the benchmarks.
	Measure func(context.Context, *Run) error

	// Table makes the table. If it returns a table and an error, the error says what is wrong with
	// the results.
	Table func(*Results) (string, error)
}

// Main runs the program until it ends, or until Ctrl-C.
func (p Program) Main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program immediately
	if err := p.Run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", p.Folder, err)
		os.Exit(1)
	}
}

// errStopped says that Ctrl-C has ended the program.
var errStopped = errors.New("stopped, nothing was written")

// Run is Main with its arguments and its output.
func (p Program) Run(ctx context.Context, args []string, stdout, progress io.Writer) error {
	root, err := workspace.Root(".")
	if err != nil {
		return err
	}
	lab := filepath.Join(root, "docs", "lab")
	o, err := p.parse(args, lab)
	if err != nil {
		return err
	}
	text, err := p.results(ctx, o, filepath.Join(lab, p.Package), progress)
	if ctx.Err() != nil {
		return errStopped
	}
	if err != nil {
		return err
	}
	results, err := Read(string(text))
	if err != nil {
		return err
	}
	table, tableErr := p.Table(results)
	fmt.Fprint(stdout, table)
	if table == "" || o.folder == "" {
		return tableErr
	}
	return errors.Join(tableErr, write(o.folder, text, table))
}

// options are the flags of a program.
type options struct {
	quick  bool
	again  bool   // make the table of the results in the folder
	folder string // for the files; "" to write none
}

func (p Program) parse(args []string, lab string) (options, error) {
	var o options
	flags := flag.NewFlagSet(p.Folder, flag.ExitOnError)
	flags.BoolVar(&o.quick, "quick", false,
		"a small run, to see that it works; its numbers mean nothing and are kept only with -o")
	flags.BoolVar(&o.again, "table", false, "measure nothing: make the table anew, of the results in the folder")
	flags.StringVar(&o.folder, "o", "", "the `folder` for table.txt and results.txt (default docs/lab/"+p.Folder+")")
	_ = flags.Parse(args) // it exits on an error
	if flags.NArg() > 0 {
		return options{}, fmt.Errorf("it takes no argument, and got %q; -h lists the flags", flags.Args())
	}
	if o.folder == "" && !o.quick {
		o.folder = filepath.Join(lab, p.Folder)
	}
	return o, nil
}

// results returns the results of the folder, or measures.
func (p Program) results(ctx context.Context, o options, pkg string, progress io.Writer) ([]byte, error) {
	if o.again {
		return os.ReadFile(filepath.Join(o.folder, "results.txt"))
	}
	return p.measure(ctx, pkg, o.quick, progress)
}

// write writes the results and the table to a folder.
func write(folder string, results []byte, table string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "results.txt"), results, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "table.txt"), []byte(table), 0o644)
}
