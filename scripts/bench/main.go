// Command bench measures our shared informer next to client-go's: it runs the
// benchmarks of the package fanout in rounds, prints one table, and writes it,
// a picture, and everything that was measured to docs/bench.
//
//	go run ./scripts/bench [-quick] [-rounds N] [-o FOLDER]
package main

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

	"example.com/informer/01-deltafifo/workspace"
	"example.com/informer/scripts/bench/report"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run returns the exit code: 0 also when a figure is not reached, 1 when
// something could not be measured, 2 on wrong usage, 130 when ctx was ended.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parseOptions(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	}
	err = bench(ctx, o, stdout, stderr)
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "bench: stopped, nothing was written")
		return 130
	case err != nil:
		fmt.Fprintln(stderr, "bench:", err)
		return 1
	}
	return 0
}

type options struct {
	quick  bool
	rounds int
	folder string // where the results go; with quick it may be empty: nowhere
}

func parseOptions(args []string, stderr io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.BoolVar(&o.quick, "quick", false, "one small round, to see that it works; the numbers mean nothing, and are written only where -o says so")
	flags.IntVar(&o.rounds, "rounds", 5, "how often everything is measured")
	flags.StringVar(&o.folder, "o", "", "the folder for the results (default docs/bench)")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 || o.rounds < 1 {
		err := errors.New("bench takes no arguments, and at least one round: go run ./scripts/bench -h names the flags")
		fmt.Fprintln(stderr, err)
		return o, err
	}
	return o, nil
}

// bench measures, prints the table and writes the files.
func bench(ctx context.Context, o options, stdout, stderr io.Writer) error {
	root, err := workspace.Root(".")
	if err != nil {
		return err
	}
	p := fullPlan()
	if o.quick {
		o.rounds, p = 1, quickPlan()
	} else if o.folder == "" {
		o.folder = filepath.Join(root, "docs", "bench")
	}
	m, err := measure(ctx, filepath.Join(root, "scripts", "bench"), p.steps, o.rounds, stderr)
	if err != nil {
		return err
	}
	text := table(m, p.rows)
	fmt.Fprint(stdout, text)
	if o.folder == "" {
		return nil
	}
	if err := report.Write(o.folder, map[string]string{
		"table.txt": text, "cost.svg": picture(m, p.panels), "results.txt": m.raw.String(),
	}); err != nil {
		return err
	}
	fmt.Fprintln(stderr, "written to", o.folder)
	return nil
}
