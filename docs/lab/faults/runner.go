// The runner of scenarios, one after the other, on one control plane.

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/docs/lab/faults/catalog"
	"example.com/informer/docs/lab/faults/scenario"
	"example.com/informer/docs/lab/faults/testenv"
	"example.com/informer/docs/lab/faults/workload"
	"example.com/informer/scripts/harness/usage"
)

// implementations go through every fault side by side.
var implementations = []scenario.Implementation{
	// After a removal client-go's listener makes another call or ends, at random
	// (a select): each further call is half as likely.
	{Name: catalog.ClientGo, New: cache.NewSharedIndexInformerWithOptions, InFlight: 16},
	{Name: ours, New: func(lw cache.ListerWatcher, example runtime.Object,
		options cache.SharedIndexInformerOptions) cache.SharedIndexInformer {
		return informer.New(lw, example, options)
	}, InFlight: 1},
}

const ours = "ours"

// runner has the control plane and the workload for all scenarios.
type runner struct {
	env   *testenv.Environment
	load  *workload.Workload
	scale scenario.Scale
	runs  int

	firstHeap, minHeap, maxHeap int // bytes in use after the first fault; least and most after any
}

// setUp keeps client-go from logging every fault, and from ending the program when
// a handler panics, as it does by default.
func setUp() {
	klog.SetLogger(logr.Discard())
	utilruntime.ReallyCrash = false
}

// newRunner starts a control plane and prepares the workload.
func newRunner(ctx context.Context, seed uint64, rate int, scale scenario.Scale, progress io.Writer) (*runner, error) {
	// Watches of ConfigMaps come from the API server's watch cache, as usual, and
	// those of pods straight from etcd.
	env, err := testenv.Start(ctx, progress, "--watch-cache-sizes=pods#0")
	if err != nil {
		return nil, err
	}
	r := &runner{env: env, scale: scale}
	opts := workload.Options{Seed: seed, Rate: rate, ConfigMaps: 60, Pods: 20}
	for n := range 3 {
		name := fmt.Sprintf("faults-%d", n)
		if err := env.CreateNamespace(ctx, name); err != nil {
			return nil, errors.Join(err, env.Stop())
		}
		opts.Namespaces = append(opts.Namespaces, name)
	}
	r.load = workload.New(env.Client, opts)
	return r, nil
}

func (r *runner) stop() error { return r.env.Stop() }

// run runs one scenario. The implementations take turns in who starts first.
func (r *runner) run(ctx context.Context, fault scenario.Fault) (results, error) {
	order := slices.Clone(implementations)
	if r.runs++; r.runs%2 == 0 {
		slices.Reverse(order)
	}
	both, err := scenario.Run(ctx, r.env, r.load, r.scale, fault, order)
	if err != nil {
		return nil, err
	}
	if err := r.checkHeap(); err != nil {
		return nil, fmt.Errorf("%s: %w", fault.Name, err)
	}
	return both, nil
}

// checkHeap fails if much more memory is in use than after the first fault.
func (r *runner) checkHeap() error {
	const slack = 32 << 20
	now := usage.Heap()
	if r.firstHeap == 0 {
		r.firstHeap, r.minHeap = now, now
	}
	r.minHeap, r.maxHeap = min(r.minHeap, now), max(r.maxHeap, now)
	if now > r.firstHeap+slack {
		return fmt.Errorf("a memory leak: the heap has %d MiB, after the first fault it had %d MiB",
			now>>20, r.firstHeap>>20)
	}
	return nil
}
