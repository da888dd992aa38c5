// The workload: random changes to ConfigMaps and pods.

package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/flowcontrol"

	"example.com/informer/scripts/harness/record"
)

// workload makes changes between start and pause. If a change fails, it counts the failure and
// continues: the server may be down or frozen.
type workload struct {
	writers []*record.Writer
	limiter flowcontrol.RateLimiter
	skew    atomic.Int64   // of the clock that stamps the objects, in nanoseconds
	running sync.WaitGroup // the writers
	stop    context.CancelFunc
	started time.Time     // the time of the last start
	worked  time.Duration // the time between all earlier starts and pauses

	confirmed, failed atomic.Int64 // the numbers of changes so far

	mu      sync.Mutex
	changes map[string][]record.Change // the confirmed changes since the last takeChanges, by resource
}

// namespaces are those of the workload.
var namespaces = []string{"faults-0", "faults-1", "faults-2"}

const (
	rate         = 300             // changes a second, in all
	writeTimeout = 2 * time.Second // after that, the writer gives up, and does not know whether the change was made
)

// newWorkload returns a workload with two writers in each namespace. It makes no changes before
// start.
func newWorkload(client kubernetes.Interface, seed uint64) *workload {
	w := &workload{
		limiter: flowcontrol.NewTokenBucketRateLimiter(rate, 1),
		changes: map[string][]record.Change{},
	}
	for i := range 2 * len(namespaces) {
		w.writers = append(w.writers, &record.Writer{
			Client: client.CoreV1().RESTClient(), Namespace: namespaces[i/2], Prefix: fmt.Sprintf("w%d", i%2),
			ConfigMaps: 30, Pods: 10, Random: rand.New(rand.NewPCG(seed, uint64(i))),
			Clock: func() time.Time { return time.Now().Add(time.Duration(w.skew.Load())) }, Confirmed: w.confirm,
		})
	}
	return w
}

// start starts the writers, or starts them again.
func (w *workload) start(ctx context.Context) {
	w.started = time.Now()
	ctx, w.stop = context.WithCancel(ctx)
	for _, writer := range w.writers {
		w.running.Go(func() {
			for w.limiter.Wait(ctx) == nil {
				// The end of ctx does not cancel a change.
				within, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
				if err := writer.Change(within); err != nil {
					w.failed.Add(1)
				}
				cancel()
			}
		})
	}
}

// pause stops the writers, and returns when no change is pending.
func (w *workload) pause() {
	w.stop()
	w.running.Wait()
	w.worked += time.Since(w.started)
}

// confirm records a change that the server has confirmed.
func (w *workload) confirm(c record.Change) {
	w.confirmed.Add(1)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.changes[c.Resource] = append(w.changes[c.Resource], c)
}

// takeChanges returns the confirmed changes since the last call, by resource, and forgets them.
func (w *workload) takeChanges() map[string][]record.Change {
	w.mu.Lock()
	defer w.mu.Unlock()
	changes := w.changes
	w.changes = map[string][]record.Change{}
	return changes
}
