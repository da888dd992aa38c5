// Package churn keeps changing ConfigMaps and pods in several namespaces, and
// writes down which changes the server has confirmed.
package churn

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/kubernetes"

	"example.com/informer/scripts/faults/judge"
)

// Options say how much is changed, and how fast.
type Options struct {
	Seed       uint64
	Rate       int      // changes a second, in all
	Namespaces []string // must exist
	ConfigMaps int      // names for them, in each namespace
	Pods       int
}

// A Churn makes changes between Start and Pause. It does not mind failing: a
// server that is down or frozen is what it is there for.
type Churn struct {
	opts    Options
	writers []*writer
	skew    atomic.Int64 // of the clock that stamps the objects
	writing sync.WaitGroup
	stop    context.CancelFunc

	mu       sync.Mutex
	written  map[string][]judge.Written // by resource
	made     int
	failures int
	begun    time.Time     // when it was last started
	lasted   time.Duration // before that
}

const writersPerNamespace = 2

// writeTimeout is how long a change may take before the writer gives it up:
// whether it was made is then not known.
const writeTimeout = 2 * time.Second

// New returns a churn that has not begun.
func New(client kubernetes.Interface, opts Options) *Churn {
	c := &Churn{opts: opts, written: map[string][]judge.Written{}}
	for i, namespace := range opts.Namespaces {
		for j := range writersPerNamespace {
			c.writers = append(c.writers, &writer{
				churn:  c,
				client: client.CoreV1().RESTClient(),
				random: rand.New(rand.NewPCG(opts.Seed, uint64(i*writersPerNamespace+j))),
				// Each name belongs to one writer.
				configMaps: kind{"configmaps", opts.ConfigMaps / writersPerNamespace, configMap},
				pods:       kind{"pods", opts.Pods / writersPerNamespace, pod},
				namespace:  namespace,
				prefix:     fmt.Sprintf("w%d", j),
				alive:      map[string]bool{},
			})
		}
	}
	return c
}

// Start begins, or goes on.
func (c *Churn) Start(ctx context.Context) {
	c.begun = time.Now()
	ctx, c.stop = context.WithCancel(ctx)
	pause := time.Second * time.Duration(len(c.writers)) / time.Duration(c.opts.Rate)
	for _, w := range c.writers {
		c.writing.Go(func() {
			tick := time.NewTicker(pause)
			defer tick.Stop()
			for {
				select {
				case <-ctx.Done():
					return
				case <-tick.C:
					// A change that was begun is finished, or given up.
					w.change(context.WithoutCancel(ctx))
				}
			}
		})
	}
}

// Pause returns when no change is under way.
func (c *Churn) Pause() {
	c.stop()
	c.writing.Wait()
	c.lasted += time.Since(c.begun)
}

// Rate is how many changes a second were confirmed, while it was not paused. It
// must be paused now.
func (c *Churn) Rate() float64 {
	made, _ := c.Made()
	return float64(made) / c.lasted.Seconds()
}

// Jump sets the clock that stamps the objects, forward or back.
func (c *Churn) Jump(by time.Duration) { c.skew.Add(int64(by)) }

func (c *Churn) now() string {
	return time.Now().Add(time.Duration(c.skew.Load())).Format(time.RFC3339Nano)
}

// Forget returns the changes to each resource that were confirmed since the
// last time, and forgets them.
func (c *Churn) Forget() map[string][]judge.Written {
	c.mu.Lock()
	defer c.mu.Unlock()
	written := c.written
	c.written = map[string][]judge.Written{}
	return written
}

// Made is the number of changes so far that were confirmed, and of those that failed.
func (c *Churn) Made() (confirmed, failed int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.made, c.failures
}

func (c *Churn) confirm(resource string, w judge.Written) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.made++
	c.written[resource] = append(c.written[resource], w)
}

func (c *Churn) fail() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failures++
}
