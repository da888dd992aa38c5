// The client: a factory with an informer and its handlers, and the measurements of them.

package main

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/procfs"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/08-factory/factory"
	"example.com/informer/scripts/harness/usage"
)

// patience ends a wait that normally takes seconds at most.
const patience = 2 * time.Minute

// A Client runs a factory and measures it. Other processes call its methods with net/rpc.
type Client struct {
	handlers   handlers
	meter      meter
	heapBefore int // the bytes in use before the factory was made
	events     int // the number of handler calls until the last Slice
}

// Settings are the settings of a Client.
type Settings struct {
	Factory    string // ours or report.Theirs
	Kubeconfig string
	Objects    int
}

// Values are measured values by unit, as in the results of a benchmark.
type Values map[string]float64

// Sync starts the factory, and measures until all handlers have synced. Both factories have the
// same options.
func (c *Client) Sync(s Settings, measured *Values) error {
	for range handlerCount {
		c.handlers = append(c.handlers, &handler{versions: make([]uint64, s.Objects)})
	}
	c.heapBefore = usage.Heap()
	c.meter.lap()
	client, err := connect(s.Kubeconfig, c.meter.count)
	if err != nil {
		return err
	}
	var informer cache.SharedIndexInformer
	var start func(context.Context)
	if s.Factory == ours {
		f := factory.New(client, factory.Options{Namespace: namespace})
		informer, start = f.ConfigMaps().Informer(), f.Start
	} else {
		f := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace))
		informer, start = f.Core().V1().ConfigMaps().Informer(), f.StartWithContext
	}
	var synced []cache.DoneChecker
	for _, h := range c.handlers {
		registration, err := informer.AddEventHandler(h)
		if err != nil {
			return err
		}
		synced = append(synced, registration.HasSyncedChecker())
	}
	start(context.Background())
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if !cache.WaitFor(ctx, "", synced...) {
		return fmt.Errorf("the handlers have not synced after %v", patience)
	}
	*measured = c.meter.lap()
	return nil
}

// Memory measures the heap, without the heap before the factory, and the greatest resident memory
// of the process so far. On Linux, it does not take the second value from getrusage: there, the
// value of a new process begins with the memory of its parent.
func (c *Client) Memory(_ int, measured *Values) error {
	peak := float64(resources().Maxrss)
	if self, err := procfs.Self(); err == nil {
		status, err := self.NewStatus()
		if err != nil {
			return fmt.Errorf("reading the greatest resident memory: %w", err)
		}
		peak = float64(status.VmHWM)
	}
	*measured = Values{"heap-B": float64(usage.Heap() - c.heapBefore), "peak-B": peak}
	return nil
}

// Slice measures the time since Sync or the last Slice.
func (c *Client) Slice(_ int, measured *Values) error {
	v, lags := c.meter.lap(), c.handlers.takeLags()
	c.events += len(lags)
	v["events"] = float64(len(lags))
	if last := len(lags) - 1; last >= 0 {
		v["p50-ns"], v["p99-ns"] = float64(lags[last*50/100]), float64(lags[last*99/100])
	}
	*measured = v
	return nil
}

// Check waits until all handlers have seen these versions of all objects, or until its patience
// ends. It returns the number of handler calls, and how many versions were lost: for each handler,
// the objects whose last version it has not seen.
func (c *Client) Check(versions []uint64, measured *Values) error {
	// The error is dropped: the result says how many are missing.
	_ = wait.PollUntilContextTimeout(context.Background(), 20*time.Millisecond, patience, true,
		func(context.Context) (bool, error) { return c.handlers.missing(versions) == 0, nil })
	c.events += len(c.handlers.takeLags())
	*measured = Values{"events": float64(c.events), "lost": float64(c.handlers.missing(versions))}
	return nil
}
