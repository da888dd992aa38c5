// The place where faults happen, one after the other.

package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/scripts/faults/bout"
	"example.com/informer/scripts/faults/catalog"
	"example.com/informer/scripts/faults/churn"
	"example.com/informer/scripts/faults/ground"
)

// contenders are the informers that go through every fault side by side.
var contenders = []bout.Contender{
	{Name: ours, New: func(lw cache.ListerWatcher, example runtime.Object,
		options cache.SharedIndexInformerOptions) cache.SharedIndexInformer {
		return informer.New(lw, example, options)
	}, OnTheirWay: 1},
	// What client-go's listener does next, the next call or its end, is chance
	// (a select): each call more is half as likely.
	{Name: catalog.ClientGo, New: cache.NewSharedIndexInformerWithOptions, OnTheirWay: 16},
}

const ours = "ours"

type arena struct {
	ground *ground.Ground
	churn  *churn.Churn
	scale  bout.Scale
	runs   int

	heap, least, most uint64 // in use after the first fault, and ever after one
}

// quiet keeps client-go from logging every fault, and from ending the program
// when a handler panics: by default it does, and there would be nothing to
// compare any more.
func quiet() {
	klog.SetLogger(logr.Discard())
	utilruntime.ReallyCrash = false
}

// open starts a control plane and prepares the changes.
func open(ctx context.Context, seed uint64, rate int, scale bout.Scale, progress io.Writer) (*arena, error) {
	// ConfigMaps are watched out of the API server's memory, as usual, and pods
	// straight from etcd.
	g, err := ground.Open(ctx, progress, "--watch-cache-sizes=pods#0")
	if err != nil {
		return nil, err
	}
	a := &arena{ground: g, scale: scale}
	opts := churn.Options{Seed: seed, Rate: rate, ConfigMaps: 60, Pods: 20}
	for n := range 3 {
		name := fmt.Sprintf("faults-%d", n)
		if err := g.Namespace(ctx, name); err != nil {
			g.Close()
			return nil, err
		}
		opts.Namespaces = append(opts.Namespaces, name)
	}
	a.churn = churn.New(g.Client, opts)
	return a, nil
}

func (a *arena) close() error { return a.ground.Close() }

// run lets the contenders go through a fault, taking turns in who comes first,
// and wants no memory to be kept.
func (a *arena) run(ctx context.Context, fault bout.Fault) (outcome, error) {
	order := slices.Clone(contenders)
	if a.runs++; a.runs%2 == 0 {
		slices.Reverse(order)
	}
	o, err := bout.Run(ctx, a.ground, a.churn, a.scale, fault, order)
	if err != nil {
		return nil, err
	}
	if err := a.weigh(); err != nil {
		return nil, fmt.Errorf("%s: %w", fault.Name, err)
	}
	return o, nil
}

// weigh wants no more memory to be in use than after the first fault, or not
// much more.
func (a *arena) weigh() error {
	const slack = 32 << 20
	now := bout.Heap()
	if a.heap == 0 {
		a.heap, a.least = now, now
	}
	a.least, a.most = min(a.least, now), max(a.most, now)
	if now > a.heap+slack {
		return fmt.Errorf("%d MiB are in use, %d MiB were after the first fault: something is not given back",
			now>>20, a.heap>>20)
	}
	return nil
}
