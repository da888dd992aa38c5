// Command faults lets our informer and client-go's go through faults at random,
// side by side on a throw-away control plane, until its time is up, and prints
// what came of it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"slices"
	"syscall"
	"time"

	"example.com/informer/scripts/faults/bout"
	"example.com/informer/scripts/faults/catalog"
)

// lifeSize is how bad faults are in real life.
var lifeSize = bout.Scale{
	Freeze: 20 * time.Second, SlowList: 30 * time.Second, Many: 50_000, Patience: 4 * time.Minute,
}

func main() {
	duration := flag.Duration("duration", 30*time.Minute, "begin no fault after this `time`")
	seed := flag.Uint64("seed", uint64(time.Now().UnixNano()), "decides which faults happen when; printed, so that a run can be repeated")
	rate := flag.Int("rate", 300, "changes a `second`")
	only := flag.String("only", "", "run only the faults whose names match this `regexp`")
	out := flag.String("out", "", "`file` to write the table to, besides printing it")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := soak(ctx, *duration, *seed, *rate, *only, *out); err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
		os.Exit(1)
	}
}

var errWrong = errors.New("our informer did something wrong: see above")

// soak runs faults until the time is up, and then writes the table.
func soak(ctx context.Context, duration time.Duration, seed uint64, rate int, only, out string) (err error) {
	pattern, err := regexp.Compile(only)
	if err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	faults := slices.DeleteFunc(catalog.All(), func(f bout.Fault) bool { return !pattern.MatchString(f.Name) })
	if len(faults) == 0 {
		return fmt.Errorf("-only %s: no fault is called so", only)
	}
	fmt.Printf("seed %d, %d changes a second, %s, %d CPUs\n", seed, rate, runtime.Version(), runtime.NumCPU())
	quiet()
	a, err := open(ctx, seed, rate, lifeSize, os.Stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.close()) }()
	results, err := a.shuffle(ctx, faults, time.Now().Add(duration), rand.New(rand.NewPCG(seed, 0)), os.Stdout)
	if err != nil {
		return err
	}
	if err := report(faults, results, out); err != nil {
		return err
	}
	for _, r := range results {
		if r.Subject == ours && r.Wrong > 0 {
			return errWrong
		}
	}
	return nil
}

// shuffle runs all faults in one order after the other until the end has come.
// Most last between one and ten seconds.
func (a *arena) shuffle(ctx context.Context, faults []bout.Fault, end time.Time, random *rand.Rand, progress io.Writer) ([]bout.Result, error) {
	var all []bout.Result
	for {
		for _, n := range random.Perm(len(faults)) {
			if time.Now().After(end) {
				return all, nil
			}
			a.scale.Hold = time.Second + time.Duration(random.Int64N(int64(9*time.Second)))
			results, err := a.run(ctx, faults[n])
			if err != nil {
				return nil, err
			}
			for _, r := range results {
				tell(progress, r)
			}
			all = append(all, results...)
		}
	}
}

// tell says how one contender did.
func tell(w io.Writer, r bout.Result) {
	fmt.Fprintf(w, "%s  %s: %s: %d events, true after %v\n", time.Now().Format(time.TimeOnly), r.Fault, r.Subject, r.Events, r.Recovery.Round(time.Millisecond))
	if r.Verdict != nil {
		fmt.Fprintf(w, "%d things wrong: %v\n", r.Wrong, r.Verdict)
	}
}

// report prints the table, and writes it to a file if asked to.
func report(faults []bout.Fault, results []bout.Result, out string) error {
	var to io.Writer = os.Stdout
	if out != "" {
		file, err := os.Create(out)
		if err != nil {
			return err
		}
		defer file.Close()
		to = io.MultiWriter(os.Stdout, file)
	}
	var names []string
	for _, c := range contenders {
		names = append(names, c.Name)
	}
	return writeTable(to, faults, names, results)
}
