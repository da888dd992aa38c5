// Command load puts our factory and client-go's under the same load, side by
// side, each in a process of its own, on a throw-away control plane. It prints
// one table, and writes it, a picture, and everything that was measured to
// docs/load.
//
//	go run ./scripts/load [-quick] [-sizes N,N,…] [-rate N] [-rounds N] [-o FOLDER] [-profile FOLDER]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"example.com/informer/01-deltafifo/workspace"
	"example.com/informer/scripts/bench/report"
	"example.com/informer/scripts/bench/tool"
	"example.com/informer/scripts/load/subject"
)

// program ends well also when ours is worse, but not when something was lost.
var program = tool.Tool[options]{Name: "load", Flags: flags, Measure: load}

func main() {
	subject.Main()
	program.Main()
}

type options struct {
	plan
	folder   string // where the results go; with -quick it may be empty: nowhere
	profiles string // where profiles go; empty: none
}

func flags(all *flag.FlagSet) func() (options, error) {
	var o options
	quick := all.Bool("quick", false, "a small load, to see that it works; the numbers mean nothing, and are written only where -o says so")
	sizes := all.String("sizes", "", "how many ConfigMaps there are, one `number` after the other, growing (default "+numbers(fullPlan().sizes)+")")
	rate := all.Int("rate", 0, "changes a second (default 200)")
	rounds := all.Int("rounds", 0, "how often each syncs (default 5)")
	all.StringVar(&o.folder, "o", "", "the `folder` for the results (default docs/load)")
	all.StringVar(&o.profiles, "profile", "", "a `folder` for profiles, as go tool pprof reads them; writing them costs both sides some CPU")
	return func() (options, error) {
		if o.plan = fullPlan(); *quick {
			o.plan = quickPlan()
		} else if o.folder == "" {
			o.folder = defaultFolder
		}
		return o, o.change(*sizes, *rate, *rounds)
	}
}

// defaultFolder is below the workspace's root.
const defaultFolder = "docs/load"

// change sets what is not empty or 0.
func (p *plan) change(sizes string, rate, rounds int) error {
	if rate < 0 || rounds < 0 {
		return errors.New("a rate and a number of rounds are positive")
	}
	if rate > 0 {
		p.rate = rate
	}
	if rounds > 0 {
		p.rounds = rounds
	}
	if sizes == "" {
		return nil
	}
	p.sizes = nil
	last := 0
	for text := range strings.SplitSeq(sizes, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n <= last {
			return fmt.Errorf("-sizes %s: these are no growing numbers", sizes)
		}
		p.sizes, last = append(p.sizes, n), n
	}
	return nil
}

// load measures, prints the table and writes the files.
func load(ctx context.Context, o options, stdout, stderr io.Writer) error {
	root, err := workspace.Root(".")
	if err != nil {
		return err
	}
	if o.folder == defaultFolder {
		o.folder = filepath.Join(root, o.folder)
	}
	if o.profiles != "" {
		if err := os.MkdirAll(o.profiles, 0o755); err != nil {
			return fmt.Errorf("making a folder for the profiles: %w", err)
		}
	}
	m, err := measure(ctx, o.plan, o.profiles, stderr)
	if err != nil {
		return err
	}
	text := table(m)
	fmt.Fprint(stdout, text)
	if o.folder != "" {
		if err := report.Write(o.folder, map[string]string{
			"table.txt": text, "load.svg": picture(m), "results.txt": results(m),
		}); err != nil {
			return err
		}
		fmt.Fprintln(stderr, "written to", o.folder)
	}
	if n := m.lost(); n > 0 {
		return fmt.Errorf("%d objects were lost on the way to a handler: see the table", n)
	}
	return nil
}
