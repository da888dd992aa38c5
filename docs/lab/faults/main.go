// Command faults runs client-go's informer and ours through faults at random, side by side on a
// throw-away control plane, until its time is up, and prints a table of the results.
//
//	go run ./docs/lab/faults [-duration TIME] [-seed N] [-only REGEXP] > docs/lab/faults/soak.txt
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"

	"example.com/informer/docs/lab/bench/report"
	"example.com/informer/scripts/harness/usage"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	o, err := parse(os.Args[1:])
	if err == nil {
		err = soak(ctx, o, os.Stdout, os.Stderr)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
		os.Exit(1)
	}
}

type options struct {
	duration time.Duration
	seed     uint64
	faults   []fault
}

func parse(args []string) (o options, err error) {
	flags := flag.NewFlagSet("faults", flag.ExitOnError)
	flags.DurationVar(&o.duration, "duration", 30*time.Minute, "begin no fault after this `time`")
	flags.Uint64Var(&o.seed, "seed", uint64(time.Now().UnixNano()),
		"decides the order of the faults and how long they last, not the moments; printed")
	only := flags.String("only", "", "run only the faults whose names match this `regexp`")
	flags.Parse(args)
	if flags.NArg() > 0 {
		return o, fmt.Errorf("it takes no argument, and got %q; -h lists the flags", flags.Args())
	}
	pattern, err := regexp.Compile(*only)
	if err != nil {
		return o, fmt.Errorf("-only: %w", err)
	}
	o.faults = slices.DeleteFunc(allFaults(), func(f fault) bool { return !pattern.MatchString(f.name) })
	if len(o.faults) == 0 {
		return o, fmt.Errorf("-only %s: no fault has such a name", *only)
	}
	return o, nil
}

// soak runs faults until the time is up, or ctx ends, and then prints the table.
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
	runs, failed := r.runAll(ctx, o, stderr)
	if len(runs) > 0 {
		fmt.Fprint(stdout, machine, head(o, r, time.Since(begin)), "\n", table(o.faults, runs))
	}
	if failed == nil && slices.ContainsFunc(runs, func(both results) bool { return both[ours].errors > 0 }) {
		return errors.New("our informer failed: see above")
	}
	return failed
}

// runner has the control plane and the workload for all scenarios.
type runner struct {
	env   *environment
	load  *workload
	scale scale
	runs  int

	minHeap, maxHeap int // bytes in use after a fault, at least and at most
}

// setUp keeps client-go from logging every fault, and from ending the program when
// a handler panics, as it does by default.
func setUp() {
	klog.SetLogger(logr.Discard())
	utilruntime.ReallyCrash = false
}

// newRunner starts a control plane and prepares the workload.
func newRunner(ctx context.Context, seed uint64, size scale, progress io.Writer) (*runner, error) {
	env, err := startEnvironment(ctx, progress)
	if err != nil {
		return nil, err
	}
	return &runner{env: env, scale: size, load: newWorkload(env.client, seed)}, nil
}

// checkHeap fails if much more memory is in use than after another fault.
func (r *runner) checkHeap() error {
	now := usage.Heap()
	r.minHeap, r.maxHeap = min(cmp.Or(r.minHeap, now), now), max(r.maxHeap, now)
	if now > r.minHeap+32<<20 {
		return fmt.Errorf("a memory leak: the heap has %d MiB, it had %d MiB after a fault", now>>20, r.minHeap>>20)
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
			r.scale.hold = time.Second + time.Duration(random.Int64N(int64(9*time.Second))) // one to ten seconds
			started := time.Now()
			total := started.Sub(begin)
			if total > o.duration {
				return runs, nil
			}
			if spent[n] > 2*total/time.Duration(len(o.faults)) {
				continue
			}
			both, err := r.run(ctx, o.faults[n])
			if err = errors.Join(err, r.checkHeap()); err != nil {
				return runs, err
			}
			for _, impl := range implementations {
				printResult(progress, both[impl.name])
			}
			runs = append(runs, both)
			spent[n] += time.Since(started)
		}
	}
}

// printResult prints how one implementation did.
func printResult(w io.Writer, r result) {
	after := "never recovered"
	if r.recovery < never {
		after = fmt.Sprintf("recovered after %v", r.recovery.Round(time.Millisecond))
	}
	fmt.Fprintf(w, "%s  %s: %s: %d events, %s\n", time.Now().Format(time.TimeOnly), r.fault, r.implementation,
		r.events, after)
	if r.err != nil {
		fmt.Fprintf(w, "%d errors: %v\n", r.errors, r.err)
	}
}

// results are those of one run of a fault, by the names of the implementations.
type results map[string]result

// head says how the faults were run, and what the columns mean.
func head(o options, r *runner, took time.Duration) string {
	return fmt.Sprintf(`
%.0f minutes of faults at random, seed %d, amid %.0f changes a second (%d tried) to ConfigMaps and pods in 3 namespaces
both at the same time, each with ten handlers for ConfigMaps and ten for pods; client-go / ours
events: calls of these handlers; errors: what the checker found, be it lost or wrong in another way
recovery: seconds from the end of the fault until the cache has what the server has
first: how often each one recovered first; within a tenth of a second neither did
heap in use after each fault: %s to %s
`, took.Minutes(), o.seed, float64(r.load.confirmed.Load())/r.load.worked.Seconds(), rate,
		report.Value(float64(r.minHeap), "B"), report.Value(float64(r.maxHeap), "B"))
}

// table has a line for each fault that was run, in the order of faults.
func table(faults []fault, runs []results) string {
	lines := [][]string{{"fault", "runs", "events", "errors", "recovery, median", "worst", "first"}}
	for _, f := range faults {
		ofFault := slices.DeleteFunc(slices.Clone(runs), func(both results) bool { return both[ours].fault != f.name })
		if len(ofFault) == 0 {
			continue
		}
		line := []string{f.name, strconv.Itoa(len(ofFault))}
		theirs := cells(ofFault, clientGo, ours)
		for i, cell := range cells(ofFault, ours, clientGo) {
			line = append(line, theirs[i]+" / "+cell)
		}
		lines = append(lines, line)
	}
	return report.Align(lines)
}

// cells are what one implementation has in the columns after the second.
func cells(runs []results, implementation, other string) []string {
	const tie = 100 * time.Millisecond
	var events, errs, first int
	var recoveries []time.Duration
	for _, both := range runs {
		r := both[implementation]
		events += r.events
		errs += r.errors
		recoveries = append(recoveries, r.recovery)
		if r.recovery < both[other].recovery-tie {
			first++
		}
	}
	slices.Sort(recoveries)
	return []string{
		report.Count(events), report.Count(errs),
		seconds(recoveries[(len(recoveries)-1)/2]), seconds(recoveries[len(recoveries)-1]), strconv.Itoa(first),
	}
}

func seconds(recovery time.Duration) string {
	if recovery == never {
		return "never"
	}
	return fmt.Sprintf("%.2f", recovery.Seconds())
}
