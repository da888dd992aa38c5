// Command faults runs client-go's informer and ours through random faults, side by side on a
// temporary control plane, until its time is up. Then it prints a table of the results.
//
//	go run ./docs/lab/faults [-duration TIME] [-seed N] [-only REGEXP] > docs/lab/faults/soak.txt
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"

	"example.com/informer/docs/lab/report"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program immediately
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	return soak(ctx, o, os.Stdout, os.Stderr)
}

// options are the flags of the command.
type options struct {
	duration time.Duration
	seed     uint64
	faults   []entry
}

func parse(args []string) (o options, err error) {
	flags := flag.NewFlagSet("faults", flag.ExitOnError)
	flags.DurationVar(&o.duration, "duration", 30*time.Minute, "begin no fault after this `time`")
	flags.Uint64Var(&o.seed, "seed", uint64(time.Now().UnixNano()),
		"decides the order of the faults and how long they last, not the moments; printed")
	only := flags.String("only", "", "run only the faults whose names match this `regexp`")
	_ = flags.Parse(args) // it exits on an error
	if flags.NArg() > 0 {
		return o, fmt.Errorf("it takes no argument, and got %q; -h lists the flags", flags.Args())
	}
	pattern, err := regexp.Compile(*only)
	if err != nil {
		return o, fmt.Errorf("-only: %w", err)
	}
	o.faults = slices.DeleteFunc(allFaults(), func(f entry) bool { return !pattern.MatchString(f.name) })
	if len(o.faults) == 0 {
		return o, fmt.Errorf("-only %s: no fault has such a name", *only)
	}
	return o, nil
}

// soak runs faults until the time is up, or until ctx ends, and then prints the table.
func soak(ctx context.Context, o options, stdout, stderr io.Writer) (err error) {
	fmt.Fprintf(stderr, "seed %d\n", o.seed)
	setUp()
	machine, err := report.Machine()
	if err != nil {
		return err
	}
	r, err := newRunner(ctx, o.seed, scale{deletes: 50_000, timeout: 4 * time.Minute}, stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.env.stop()) }()
	begin := time.Now()
	runs, err := r.runAll(ctx, o, stderr)
	if len(runs) > 0 {
		fmt.Fprint(stdout, machine, head(o, r, time.Since(begin)), "\n", table(o.faults, runs))
	}
	if err != nil {
		return err
	}
	if slices.ContainsFunc(runs, func(run results) bool { return run[ours].errors > 0 }) {
		return errors.New("our informer failed: see above")
	}
	return nil
}

// setUp turns off two defaults of client-go: to log every fault, and to end the program when a
// handler panics.
func setUp() {
	klog.SetLogger(logr.Discard())
	utilruntime.ReallyCrash = false
}
