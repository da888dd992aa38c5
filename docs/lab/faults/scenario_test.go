package faults

import (
	"context"
	"runtime/pprof"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/record"
	"example.com/informer/scripts/harness/usage"
)

// scale says how long faults last and how large they are.
type scale struct {
	hold          time.Duration // how long most faults last
	deletes       int           // objects that are deleted in one call
	rereadsTokens bool          // clients read the token file again immediately after a 401, and not after 50 s
}

// A runner runs scenarios, one after the other, on one control plane and with one workload.
type runner struct {
	env   *environment
	load  *workload
	scale scale
	runs  int // the number of scenarios so far

	minHeap, maxHeap int // the bytes in use after a fault: the least and the greatest number so far
}

// newRunner starts a control plane, and makes a workload.
func newRunner(t *testing.T, size scale) *runner {
	env := startEnvironment(t)
	env.createObjects(t)
	return &runner{env: env, load: newWorkload(env.client, *seed), scale: size}
}

// test runs a fault as a subtest. Unless -run excludes this subtest, it returns the results. ok is
// false if the scenario did not come to its end. An error of an informer does not prevent that.
func (r *runner) test(t *testing.T, f row) (all results, ok bool) {
	ok = true
	t.Run(f.name, func(t *testing.T) {
		ok = false
		all = r.runScenario(t, f)
		r.checkHeap(t)
		ok = true
	})
	return all, ok
}

// checkHeap ends the test if much more memory is in use than after an earlier fault.
func (r *runner) checkHeap(t *testing.T) {
	now := usage.Heap()
	if r.minHeap == 0 || now < r.minHeap {
		r.minHeap = now
	}
	r.maxHeap = max(r.maxHeap, now)
	if now > r.minHeap+32<<20 {
		t.Fatalf("a memory leak: the heap has %d MiB, it had %d MiB after a fault", now>>20, r.minHeap>>20)
	}
}

// scenario is one fault that several instances go through at the same time, while a workload makes
// changes.
type scenario struct {
	*testing.T
	*runner
	fault     row
	instances []*instance

	files           int       // the number of open files of the process before the fault
	heap            int       // the bytes in use before the fault
	failures        int64     // the number of failed changes before the fault
	handlersChanged bool      // whether changeHandlers was called
	faultEnd        time.Time // when the fault was over

	listed   time.Time                    // when the scenario listed the objects of the server
	objects  map[string][]record.Object   // these objects, by resource
	versions map[string]map[string]string // their versions, by resource and key
}

// runScenario lets the implementations go through a fault, and checks them.
func (r *runner) runScenario(t *testing.T, f row) results {
	s := &scenario{T: t, runner: r, fault: f}
	if f.after != nil {
		defer f.after(s)
	}
	if f.before != nil {
		f.before(s)
	}
	defer s.stop()
	s.start()
	s.measure()
	s.injectFault()
	s.waitForRecovery()
	return s.check()
}

// start starts the informers while changes are made, and returns when all handlers have synced. The
// implementations take turns in starting first.
func (s *scenario) start() {
	s.load.start(s.Context())
	defer s.load.pause()
	s.waitForChanges(100)
	order := slices.Clone(implementations)
	s.runs++
	if s.runs%2 == 0 {
		slices.Reverse(order)
	}
	for _, impl := range order {
		s.startInstance(impl)
	}
	s.until("all handlers have synced", func() bool { return s.everyInformer((*testInformer).synced) })
}

// injectFault injects the fault while changes are made, and records when it is over. Some handlers
// stall meanwhile.
func (s *scenario) injectFault() {
	s.load.takeChanges()
	s.load.start(s.Context())
	defer s.load.pause()
	s.waitForChanges(100)
	s.eachInformer(func(i *testInformer) {
		i.handlers[stalled].stall()
		i.handlers[stuck].stall()
		must.NoError(s, i.remove(removedBefore))
	})
	s.failures = s.load.failed.Load()
	s.fault.run(s)
	s.faultEnd = time.Now()
	s.changeHandlers()
	s.eachInformer(func(i *testInformer) { i.handlers[stalled].resume() })
}

// stop stops all instances, and waits until none of their goroutines is left.
func (s *scenario) stop() {
	for _, in := range s.instances {
		in.stop()
	}
	for _, in := range s.instances {
		s.until("no goroutine of "+in.name+" is left", func() bool { return usage.Goroutines(label, in.name) == 0 })
	}
}

// eachInformer calls a function for every informer. The goroutines that the function starts get the
// instance's label, so that they can be counted.
func (s *scenario) eachInformer(do func(*testInformer)) {
	for _, in := range s.instances {
		pprof.Do(s.Context(), pprof.Labels(label, in.name), func(context.Context) {
			for _, i := range in.informers {
				do(i)
			}
		})
	}
}

// every reports whether a condition is true for every instance.
func (s *scenario) every(condition func(*instance) bool) bool {
	return !slices.ContainsFunc(s.instances, func(in *instance) bool { return !condition(in) })
}

// everyInformer reports whether a condition is true for every informer of every instance.
func (s *scenario) everyInformer(condition func(*testInformer) bool) bool {
	return s.every(func(in *instance) bool { return in.every(condition) })
}

// timeout ends a wait. It is long, because a reflector that was often refused can pause for a minute,
// and a busy machine needs more.
const timeout = 5 * time.Minute

// wait waits until a condition is true, or returns an error after the timeout.
func (s *scenario) wait(condition func() bool) error {
	return wait.PollUntilContextTimeout(s.Context(), 5*time.Millisecond, timeout, true,
		func(context.Context) (bool, error) { return condition(), nil })
}

// until waits until a condition is true. It ends the test after the timeout.
func (s *scenario) until(description string, condition func() bool) {
	s.Helper()
	if err := s.wait(condition); err != nil {
		s.Fatalf("waiting until %s: %v", description, err)
	}
}
