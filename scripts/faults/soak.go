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

	"example.com/informer/scripts/bench/report"
	"example.com/informer/scripts/faults/bout"
)

// lifeSize is the full size of faults. Most last between one and ten
// seconds.
var lifeSize = bout.Scale{
	Freeze: 20 * time.Second, SlowList: 30 * time.Second, Many: 50_000, Patience: 4 * time.Minute,
}

var errWrong = errors.New("our informer did something wrong: see above")

// soak runs faults until the time is up, and then writes the table. When ctx
// ends before that, it only prints it.
func soak(ctx context.Context, o options, stdout, stderr io.Writer) (err error) {
	fmt.Fprintf(stderr, "seed %d\n", o.seed)
	quiet()
	machine, err := report.Machine()
	if err != nil {
		return err
	}
	a, err := open(ctx, o.seed, o.rate, lifeSize, stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.close()) }()
	begin := time.Now()
	runs, failed := a.shuffle(ctx, o, stderr)
	text := machine + head(o, time.Since(begin), a.churn.Rate(), a.least, a.most) + "\n" + table(o.faults, runs)
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
	for _, r := range runs {
		if r[ours].Wrong > 0 {
			return errWrong
		}
	}
	return nil
}

// shuffle runs all faults in one order after the other until the time is up.
// Those that take long are left out at times, so that they do not take more than
// twice their share of the time. What came of the runs so far is also returned
// with an error.
func (a *arena) shuffle(ctx context.Context, o options, progress io.Writer) (runs []outcome, err error) {
	random := rand.New(rand.NewPCG(o.seed, 0))
	spent := make([]time.Duration, len(o.faults))
	for begin := time.Now(); ; {
		for _, n := range random.Perm(len(o.faults)) {
			hold := time.Second + time.Duration(random.Int64N(int64(9*time.Second)))
			begun := time.Now()
			total := begun.Sub(begin)
			if total > o.duration {
				return runs, nil
			}
			if spent[n] > 2*total/time.Duration(len(o.faults)) {
				continue
			}
			a.scale.Hold = hold
			r, err := a.run(ctx, o.faults[n])
			if err != nil {
				return runs, err
			}
			for _, c := range contenders {
				tell(progress, r[c.Name])
			}
			runs = append(runs, r)
			spent[n] += time.Since(begun)
		}
	}
}

// tell says how one contender did.
func tell(w io.Writer, r bout.Result) {
	after := "never true again"
	if r.Recovery > 0 {
		after = fmt.Sprintf("true after %v", r.Recovery.Round(time.Millisecond))
	}
	fmt.Fprintf(w, "%s  %s: %s: %d events, %s\n", time.Now().Format(time.TimeOnly), r.Fault, r.Subject, r.Events, after)
	if r.Verdict != nil {
		fmt.Fprintf(w, "%d things wrong: %v\n", r.Wrong, r.Verdict)
	}
}
