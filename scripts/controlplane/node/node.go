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

// Config says which node to be.
type Config struct {
	Name    string // of the node
	Version string // that the node reports as its kubelet's
}

// delays are how long a pod stays in a stage: how fast the pods live.
var delays = map[stage]time.Duration{
	starting: 800 * time.Millisecond, // from accepting a pod until its containers run
	stopping: time.Second,            // from the request to delete it until they have ended
	removing: 500 * time.Millisecond, // from then until the pod is gone
}

// podCIDR holds the addresses of the pods.
var podCIDR = netip.MustParsePrefix("10.244.0.0/24")

// hostIP is the node's own address: nothing of it is to be had from elsewhere.
const hostIP = "127.0.0.1"

// Run is the node until ctx is done. It waits for an API server that is not
// there yet, takes up where an earlier run of the same node left off, and
// leaves the node and its pods as they are when it ends.
func Run(ctx context.Context, client kubernetes.Interface, config Config) error {
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
