// Faults at random, full size, until the time is up.

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"time"

	"example.com/informer/docs/lab/bench/report"
	"example.com/informer/docs/lab/faults/scenario"
)

// fullScale has no Hold: most faults last between one and ten seconds, at random.
var fullScale = scenario.Scale{
	Freeze: 20 * time.Second, SlowList: 30 * time.Second, Deletes: 50_000, Timeout: 4 * time.Minute,
}

var errOurs = errors.New("our informer failed: see above")

// soak runs faults until the time is up, and then writes the table. When ctx
// ends before that, it only prints it.
func soak(ctx context.Context, o options, stdout, stderr io.Writer) (err error) {
	fmt.Fprintf(stderr, "seed %d\n", o.seed)
	setUp()
	machine, err := report.Machine()
	if err != nil {
		return err
	}
	r, err := newRunner(ctx, o.seed, o.rate, fullScale, stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.stop()) }()
	begin := time.Now()
	runs, failed := r.runAll(ctx, o, stderr)
	text := machine + head(o, time.Since(begin), r.load.Rate(), r.minHeap, r.maxHeap) + "\n" + table(o.faults, runs)
	if len(runs) > 0 {
		fmt.Fprint(stdout, "\n", text)
	}
	if failed != nil {
		return failed
	}
	if o.file != "" {
		if err := os.WriteFile(o.file, []byte(text), 0o644); err != nil {
			return fmt.Errorf("writing the table: %w", err)
		}
	}
	for _, both := range runs {
		if both[ours].Errors > 0 {
			return errOurs
		}
	}
	return nil
}

// runAll runs all faults in one random order after the other until the time is up.
// It skips a slow fault at times, so that it takes no more than twice its share of
// the time. With an error it returns the results so far.
func (r *runner) runAll(ctx context.Context, o options, progress io.Writer) (runs []results, err error) {
	random := rand.New(rand.NewPCG(o.seed, 0))
	spent := make([]time.Duration, len(o.faults))
	for begin := time.Now(); ; {
		for _, n := range random.Perm(len(o.faults)) {
			hold := time.Second + time.Duration(random.Int64N(int64(9*time.Second)))
			started := time.Now()
			total := started.Sub(begin)
			if total > o.duration {
				return runs, nil
			}
			if spent[n] > 2*total/time.Duration(len(o.faults)) {
				continue
			}
			r.scale.Hold = hold
			both, err := r.run(ctx, o.faults[n])
			if err != nil {
				return runs, err
			}
			for _, impl := range implementations {
				printResult(progress, both[impl.Name])
			}
			runs = append(runs, both)
			spent[n] += time.Since(started)
		}
	}
}

// printResult prints how one implementation did.
func printResult(w io.Writer, r scenario.Result) {
	after := "never recovered"
	if r.Recovery > 0 {
		after = fmt.Sprintf("recovered after %v", r.Recovery.Round(time.Millisecond))
	}
	fmt.Fprintf(w, "%s  %s: %s: %d events, %s\n", time.Now().Format(time.TimeOnly), r.Fault, r.Implementation,
		r.Events, after)
	if r.Err != nil {
		fmt.Fprintf(w, "%d errors: %v\n", r.Errors, r.Err)
	}
}
