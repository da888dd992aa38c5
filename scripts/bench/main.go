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
	"path/filepath"

	"example.com/informer/01-deltafifo/workspace"
	"example.com/informer/scripts/bench/report"
	"example.com/informer/scripts/bench/tool"
)

// program ends well also when a figure is not reached.
var program = tool.Tool[options]{Name: "bench", Flags: flags, Measure: bench}

func main() { program.Main() }

type options struct {
	quick  bool
	rounds int
	folder string // where the results go; with quick it may be empty: nowhere
}

func flags(all *flag.FlagSet) func() (options, error) {
	var o options
	all.BoolVar(&o.quick, "quick", false, "one small round, to see that it works; the numbers mean nothing, and are written only where -o says so")
	all.IntVar(&o.rounds, "rounds", 5, "how often everything is measured")
	all.StringVar(&o.folder, "o", "", "the folder for the results (default docs/bench)")
	return func() (options, error) {
		if o.rounds < 1 {
			return o, errors.New("-rounds: there must be one at least")
		}
		return o, nil
	}
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
