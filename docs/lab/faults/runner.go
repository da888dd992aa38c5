// The runner of scenarios.

package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"example.com/informer/scripts/harness/usage"
)

// runner runs scenarios, one after the other, on one control plane and with one workload.
type runner struct {
	env   *environment
	load  *workload
	scale scale
	runs  int // the number of scenarios so far

	minHeap, maxHeap int // the bytes in use after a fault: the least and the greatest number so far
}

// newRunner starts a control plane, and makes a workload.
func newRunner(ctx context.Context, seed uint64, size scale, progress io.Writer) (*runner, error) {
	env, err := startEnvironment(ctx, progress)
	if err != nil {
		return nil, err
	}
	return &runner{env: env, scale: size, load: newWorkload(env.client, seed)}, nil
}

// checkHeap fails if much more memory is in use than after an earlier fault.
func (r *runner) checkHeap() error {
	now := usage.Heap()
	if r.minHeap == 0 || now < r.minHeap {
		r.minHeap = now
	}
	r.maxHeap = max(r.maxHeap, now)
	if now > r.minHeap+32<<20 {
		return fmt.Errorf("a memory leak: the heap has %d MiB, it had %d MiB after a fault", now>>20, r.minHeap>>20)
	}
	return nil
}

// runAll runs all faults in a random order, and again in another random order, until the time is
// up. Sometimes it skips a slow fault, so that no fault takes more than twice its share of the
// time. If it returns an error, it also returns the results so far.
func (r *runner) runAll(ctx context.Context, o options, progress io.Writer) (runs []results, err error) {
	random := rand.New(rand.NewPCG(o.seed, 0))
	spent := make([]time.Duration, len(o.faults)) // by fault
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
			run, err := r.run(ctx, o.faults[n])
			if err != nil {
				return runs, err
			}
			if err := r.checkHeap(); err != nil {
				return runs, err
			}
			for _, impl := range implementations {
				printResult(progress, run[impl.name])
			}
			runs = append(runs, run)
			spent[n] += time.Since(started)
		}
	}
}
