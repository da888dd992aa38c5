// A scenario runs informers of both implementations through the same fault, at the
// same time, amid the changes of a workload, and checks them.

package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"runtime/pprof"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/flowcontrol"

	"example.com/informer/scripts/harness/record"
	"example.com/informer/scripts/harness/usage"
)

// fault is something that goes wrong.
type fault struct {
	name string

	before        steps                // prepare what the fault needs, before the informers start
	do            steps                // inject the fault, which is over after the last one
	after         steps                // clean up
	noticed       func(*instance) bool // tells whether an instance has met the fault; nil: none has to
	clientGoFails string               // what client-go's informer does wrong
}

// step is a part of a fault, or of a scenario.
type step func(context.Context, *scenario) error

type steps []step

// take takes the steps one after the other, up to the first error.
func (all steps) take(ctx context.Context, s *scenario) error {
	for _, step := range all {
		if err := step(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// scale says how long faults last and how large they are.
type scale struct {
	hold          time.Duration // how long most faults last
	deletes       int           // objects that are deleted in one call
	timeout       time.Duration // for whatever the scenario waits for
	rereadsTokens bool          // clients read a refused token again at once, not after 50 s
}

// scenario is one fault that several instances go through.
type scenario struct {
	*runner
	fault     fault
	instances []*instance

	files           int       // open in the process, before the fault
	heap            int       // bytes in use before the fault
	failures        int64     // of changes, before the fault
	handlersChanged bool      // changeHandlers was called
	faultEnd        time.Time // when the fault was over

	listed   time.Time                    // when the server was asked last
	objects  map[string][]record.Object   // what it had then, by resource
	versions map[string]map[string]string // of these
}

// result is how one implementation did.
type result struct {
	fault, implementation string
	events                int           // calls of its handlers
	errors                int           // what the checker found
	recovery              time.Duration // from the end of the fault until the stores were right
	err                   error         // the first of the errors
}

// never is the time of a recovery that did not happen.
const never = time.Duration(math.MaxInt64)

// run runs the implementations through a fault.
func (r *runner) run(ctx context.Context, f fault) (results, error) {
	s := &scenario{runner: r, fault: f}
	run := steps{f.before.take, start, measure, injectFault, waitForRecovery, check}
	if err := errors.Join(run.take(ctx, s), s.stop(), f.after.take(ctx, s)); err != nil {
		return nil, fmt.Errorf("%s: %w", f.name, err)
	}
	both := results{}
	for _, in := range s.instances {
		both[in.name] = in.result
	}
	return both, nil
}

// changing takes steps while changes are made, after the first of the changes.
func (s *scenario) changing(ctx context.Context, do ...step) error {
	s.load.start(ctx)
	defer s.load.pause()
	return append(steps{waitForChanges(100)}, do...).take(ctx, s)
}

// start starts the informers while changes are made, and returns when all handlers
// have synced. The implementations take turns in who starts first.
func start(ctx context.Context, s *scenario) error {
	order := slices.Clone(implementations)
	if s.runs++; s.runs%2 == 0 {
		slices.Reverse(order)
	}
	return s.changing(ctx, startInstance(order[0]), startInstance(order[1]), func(context.Context, *scenario) error {
		return s.until(ctx, "all handlers have synced", func() bool { return s.all((*testInformer).synced) })
	})
}

// injectFault injects the fault while changes are made, and notes when it is over. The
// handlers that stall do so meanwhile.
func injectFault(ctx context.Context, s *scenario) error {
	s.load.takeChanges()
	return s.changing(ctx, eachInformer(func(i *testInformer) error {
		i.handlers[stalled].stall()
		i.handlers[stuck].stall()
		return i.remove(removedBefore)
	}), func(ctx context.Context, s *scenario) error {
		s.failures = s.load.failed.Load()
		err := s.fault.do.take(ctx, s)
		s.faultEnd = time.Now()
		return err
	}, changeHandlers, eachInformer(func(i *testInformer) error {
		i.handlers[stalled].resume()
		return nil
	}))
}

// changeHandlers adds handlers and removes others. Only the first call in a
// scenario does so: a fault calls it while it lasts.
func changeHandlers(ctx context.Context, s *scenario) error {
	if s.handlersChanged {
		return nil
	}
	s.handlersChanged = true
	change := func(i *testInformer) error { return errors.Join(i.add(addedDuring), i.remove(removedDuring)) }
	return eachInformer(change)(ctx, s)
}

// eachInformer does something to every informer. The goroutines that it starts get
// the instance's label, to be counted.
func eachInformer(do func(*testInformer) error) step {
	return func(ctx context.Context, s *scenario) error {
		var errs []error
		for _, in := range s.instances {
			pprof.Do(ctx, pprof.Labels(label, in.name), func(context.Context) {
				for _, i := range in.informers {
					errs = append(errs, do(i))
				}
			})
		}
		return errors.Join(errs...)
	}
}

// all tells whether something is true of every informer.
func (s *scenario) all(condition func(*testInformer) bool) bool {
	return every(slices.Values(s.instances), func(in *instance) bool { return in.all(condition) })
}

func every[T any](all iter.Seq[T], condition func(T) bool) bool {
	for one := range all {
		if !condition(one) {
			return false
		}
	}
	return true
}

// until waits for a condition, up to the timeout.
func (r *runner) until(ctx context.Context, what string, condition func() bool) error {
	err := wait.PollUntilContextTimeout(ctx, 5*time.Millisecond, r.scale.timeout, true,
		func(context.Context) (bool, error) { return condition(), nil })
	if wait.Interrupted(err) && ctx.Err() == nil {
		return fmt.Errorf("timed out after %v waiting until %s", r.scale.timeout, what)
	}
	return err
}

// stop stops all instances, and waits until none of their goroutines is left.
func (s *scenario) stop() error {
	var errs []error
	for _, in := range s.instances {
		in.stop()
		none := func() bool { return usage.Goroutines(label, in.name) == 0 }
		errs = append(errs, s.until(context.Background(), "no goroutine of "+in.name+" is left", none))
	}
	return errors.Join(errs...)
}

// workload makes changes between start and pause. It counts a change that
// fails, and goes on: the server may be down or frozen.
type workload struct {
	writers []*record.Writer
	limiter flowcontrol.RateLimiter
	skew    atomic.Int64   // of the clock that stamps the objects
	running sync.WaitGroup // the writers
	stop    context.CancelFunc
	started time.Time     // the last time
	worked  time.Duration // before that

	confirmed, failed atomic.Int64 // changes so far
	mu                sync.Mutex
	changes           map[string][]record.Change // confirmed, by resource
}

const (
	rate         = 300             // changes a second, in all
	writeTimeout = 2 * time.Second // then the writer gives up: whether the change was made is not known
)

// newWorkload returns a workload that is not started, with two writers in each
// namespace.
func newWorkload(client kubernetes.Interface, seed uint64) *workload {
	w := &workload{limiter: flowcontrol.NewTokenBucketRateLimiter(rate, 1)}
	w.takeChanges()
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
				// A change is never broken off in the middle.
				within, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
				if err := writer.Change(within); err != nil {
					w.failed.Add(1)
				}
				cancel()
			}
		})
	}
}

// pause returns when no change is under way.
func (w *workload) pause() {
	w.stop()
	w.running.Wait()
	w.worked += time.Since(w.started)
}

func (w *workload) confirm(c record.Change) {
	w.confirmed.Add(1)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.changes[c.Resource] = append(w.changes[c.Resource], c)
}

// takeChanges empties the log, and returns the changes by resource.
func (w *workload) takeChanges() map[string][]record.Change {
	w.mu.Lock()
	defer w.mu.Unlock()
	changes := w.changes
	w.changes = map[string][]record.Change{}
	return changes
}
