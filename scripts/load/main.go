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
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"example.com/informer/01-deltafifo/workspace"
	"example.com/informer/scripts/bench/report"
	"example.com/informer/scripts/load/subject"
)

func main() {
	subject.Main()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run returns the exit code: 0 also when ours is worse, 1 when something could
// not be measured or was lost, 2 on wrong usage, 130 when ctx was ended.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parseOptions(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	}
	err = load(ctx, o, stdout, stderr)
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "load: stopped, nothing was written")
		return 130
	case err != nil:
		fmt.Fprintln(stderr, "load:", err)
		return 1
	}
	return 0
}

type options struct {
	plan
	folder   string // where the results go; with -quick it may be empty: nowhere
	profiles string // where profiles go; empty: none
}

func parseOptions(args []string, stderr io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("load", flag.ContinueOnError)
	flags.SetOutput(stderr)
	quick := flags.Bool("quick", false, "a small load, to see that it works; the numbers mean nothing, and are written only where -o says so")
	sizes := flags.String("sizes", "", "how many ConfigMaps there are, one `number` after the other, growing (default "+numbers(fullPlan().sizes)+")")
	rate := flags.Int("rate", 0, "changes a second (default 200)")
	rounds := flags.Int("rounds", 0, "how often each syncs (default 5)")
	flags.StringVar(&o.folder, "o", "", "the `folder` for the results (default docs/load)")
	flags.StringVar(&o.profiles, "profile", "", "a `folder` for profiles, as go tool pprof reads them; writing them costs both sides some CPU")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if o.plan = fullPlan(); *quick {
		o.plan = quickPlan()
	}
	err := o.change(*sizes, *rate, *rounds)
	if flags.NArg() > 0 {
		err = errors.New("load takes no arguments")
	}
	if err != nil {
		err = fmt.Errorf("%w: go run ./scripts/load -h names the flags", err)
		fmt.Fprintln(stderr, err)
		return o, err
	}
	if !*quick && o.folder == "" {
		o.folder = defaultFolder
	}
	return o, nil
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
