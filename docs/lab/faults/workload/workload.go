// Package workload keeps changing ConfigMaps and pods in several namespaces, and
// keeps a log of the changes that the server has confirmed.
package workload

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/kubernetes"

	"example.com/informer/scripts/harness/record"
)

// Options say how much is changed, and how fast. All are needed.
type Options struct {
	Seed       uint64
	Rate       int      // changes a second, in all
	Namespaces []string // must exist
	ConfigMaps int      // names for them, in each namespace
	Pods       int
}

// A Workload makes changes between Start and Pause. It counts a change that
// fails, and goes on: the server may be down or frozen.
type Workload struct {
	opts    Options
	writers []*writer
	skew    atomic.Int64   // of the clock that stamps the objects
	running sync.WaitGroup // the writers
	stop    context.CancelFunc

	mu        sync.Mutex
	changes   map[string][]record.Change // confirmed, by resource
	confirmed int
	failed    int
	started   time.Time     // the last time
	worked    time.Duration // before that
}

const writersPerNamespace = 2

// writeTimeout is how long a change may take before the writer gives it up:
// whether it was made is then not known.
const writeTimeout = 2 * time.Second

// New returns a workload that is not started.
func New(client kubernetes.Interface, opts Options) *Workload {
	w := &Workload{opts: opts, changes: map[string][]record.Change{}}
	for i, namespace := range opts.Namespaces {
		for j := range writersPerNamespace {
			w.writers = append(w.writers, &writer{
				workload: w,
				client:   client.CoreV1().RESTClient(),
				random:   rand.New(rand.NewPCG(opts.Seed, uint64(i*writersPerNamespace+j))),
				// Each name belongs to one writer.
				configMaps: kind{"configmaps", opts.ConfigMaps / writersPerNamespace, configMap},
				pods:       kind{"pods", opts.Pods / writersPerNamespace, pod},
				namespace:  namespace,
				prefix:     fmt.Sprintf("w%d", j),
				exists:     map[string]bool{},
			})
		}
	}
	return w
}

// Start starts the writers, or starts them again.
func (w *Workload) Start(ctx context.Context) {
	w.started = time.Now()
	ctx, w.stop = context.WithCancel(ctx)
	pause := time.Second * time.Duration(len(w.writers)) / time.Duration(w.opts.Rate)
	for _, wr := range w.writers {
		w.running.Go(func() {
			tick := time.NewTicker(pause)
			defer tick.Stop()
			for {
				select {
				case <-ctx.Done():
					return
				case <-tick.C:
					// A change is never broken off in the middle.
					wr.change(context.WithoutCancel(ctx))
				}
			}
		})
	}
}

// Pause returns when no change is under way.
func (w *Workload) Pause() {
	w.stop()
	w.running.Wait()
	w.worked += time.Since(w.started)
}

// Rate is how many changes a second were confirmed between Start and Pause. The
// workload must be paused.
func (w *Workload) Rate() float64 {
	confirmed, _ := w.Counts()
	return float64(confirmed) / w.worked.Seconds()
}

// SkewClock moves the clock that stamps the objects, forward or back.
func (w *Workload) SkewClock(by time.Duration) { w.skew.Add(int64(by)) }

func (w *Workload) now() string {
	return time.Now().Add(time.Duration(w.skew.Load())).Format(time.RFC3339Nano)
}

// TakeChanges empties the log, and returns the changes by resource.
func (w *Workload) TakeChanges() map[string][]record.Change {
	w.mu.Lock()
	defer w.mu.Unlock()
	changes := w.changes
	w.changes = map[string][]record.Change{}
	return changes
}

// Counts is how many changes so far were confirmed, and how many failed.
func (w *Workload) Counts() (confirmed, failed int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.confirmed, w.failed
}

func (w *Workload) confirm(resource string, c record.Change) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.confirmed++
	w.changes[resource] = append(w.changes[resource], c)
}

func (w *Workload) fail() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failed++
}
