// Package node is a simulated Kubernetes node: it registers one Ready node and
// moves the pods that the scheduler puts there through the life that a kubelet
// would give them. No container runs, and every image is taken to work.
package node

import (
	"context"
	"net/netip"
	"sync"
	"time"

	"k8s.io/client-go/kubernetes"
)

// Config says which node to be, and how fast its pods live. Zero values stand
// for the defaults.
type Config struct {
	Name    string // of the node; required
	Version string // that the node reports as its kubelet's

	PodCIDR netip.Prefix // the addresses of its pods (10.244.0.0/24)

	StartDelay  time.Duration // from accepting a pod until its containers run (800 ms)
	StopDelay   time.Duration // from the request to delete it until they have ended (1 s)
	RemoveDelay time.Duration // from then until the pod is gone (500 ms)
}

func (c Config) withDefaults() Config {
	if !c.PodCIDR.IsValid() {
		c.PodCIDR = netip.MustParsePrefix("10.244.0.0/24")
	}
	for _, d := range []struct {
		delay    *time.Duration
		standard time.Duration
	}{
		{&c.StartDelay, 800 * time.Millisecond},
		{&c.StopDelay, time.Second},
		{&c.RemoveDelay, 500 * time.Millisecond},
	} {
		if *d.delay == 0 {
			*d.delay = d.standard
		}
	}
	return c
}

// hostIP is the node's own address: nothing of it is to be had from elsewhere.
const hostIP = "127.0.0.1"

// Run is the node until ctx is done. It waits for an API server that is not
// there yet, takes up where an earlier run of the same node left off, and
// leaves the node and its pods as they are when it ends.
func Run(ctx context.Context, client kubernetes.Interface, config Config) error {
	config = config.withDefaults()
	if err := register(ctx, client, config); err != nil {
		return err
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	wg.Go(func() { renewLease(ctx, client, config.Name) })
	wg.Go(func() { reportStatus(ctx, client, config) })
	return newPods(client, config).run(ctx)
}
