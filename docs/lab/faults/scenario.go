// A scenario: informers of both implementations go through the same fault at the same time, while a
// workload makes changes. After the fault, the scenario checks them.

package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"runtime/pprof"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"example.com/informer/scripts/harness/record"
	"example.com/informer/scripts/harness/usage"
)

// scale says how long faults last and how large they are.
type scale struct {
	hold          time.Duration // how long most faults last
	deletes       int           // objects that are deleted in one call
	timeout       time.Duration // of each wait in a scenario
	rereadsTokens bool          // clients read the token file again immediately after a 401, and not after 50 s
}

// scenario is one fault that several instances go through.
type scenario struct {
	*runner
	fault     entry
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

// result is the result of one implementation in one scenario.
type result struct {
	fault, implementation string
	events                int           // the number of handler calls
	errors                int           // the number of errors that the checker found
	recovery              time.Duration // from the end of the fault until the stores were up to date
	err                   error         // a summary of the errors
}

// results are the results of one scenario, by the names of the implementations.
type results map[string]result

// never is the recovery time of an implementation that does not recover.
const never = time.Duration(math.MaxInt64)

// run runs a scenario: the implementations go through a fault.
func (r *runner) run(ctx context.Context, f entry) (results, error) {
	s := &scenario{runner: r, fault: f}
	phases := steps{f.before.run, start, measure, injectFault, waitForRecovery, check}
	runErr := phases.run(ctx, s)
	stopErr := s.stop()             // even after an error
	afterErr := f.after.run(ctx, s) // even after an error
	if err := errors.Join(runErr, stopErr, afterErr); err != nil {
		return nil, fmt.Errorf("%s: %w", f.name, err)
	}
	all := results{}
	for _, in := range s.instances {
		all[in.name] = in.result
	}
	return all, nil
}

// runWithChanges starts the workload, waits for its first changes, and runs steps while the
// workload makes more.
func (s *scenario) runWithChanges(ctx context.Context, all ...step) error {
	s.load.start(ctx)
	defer s.load.pause()
	return append(steps{waitForChanges(100)}, all...).run(ctx, s)
}

// start starts the informers while changes are made, and returns when all handlers have synced. The
// implementations take turns in starting first.
func start(ctx context.Context, s *scenario) error {
	order := slices.Clone(implementations)
	s.runs++
	if s.runs%2 == 0 {
		slices.Reverse(order)
	}
	waitForSync := func(ctx context.Context, s *scenario) error {
		return s.waitUntil(ctx, "all handlers have synced", func() bool { return s.all((*testInformer).synced) })
	}
	return s.runWithChanges(ctx, startInstance(order[0]), startInstance(order[1]), waitForSync)
}

// injectFault injects the fault while changes are made, and records when it is over. Some handlers
// stall meanwhile.
func injectFault(ctx context.Context, s *scenario) error {
	s.load.takeChanges()
	stallHandlers := eachInformer(func(i *testInformer) error {
		i.handlers[stalled].stall()
		i.handlers[stuck].stall()
		return i.remove(removedBefore)
	})
	inject := func(ctx context.Context, s *scenario) error {
		s.failures = s.load.failed.Load()
		err := s.fault.inject.run(ctx, s)
		s.faultEnd = time.Now()
		return err
	}
	resumeHandlers := eachInformer(func(i *testInformer) error {
		i.handlers[stalled].resume()
		return nil
	})
	return s.runWithChanges(ctx, stallHandlers, inject, changeHandlers, resumeHandlers)
}

// changeHandlers adds handlers and removes others. Only the first call in a scenario does so. Most
// faults call it while they last.
func changeHandlers(ctx context.Context, s *scenario) error {
	if s.handlersChanged {
		return nil
	}
	s.handlersChanged = true
	change := func(i *testInformer) error {
		if err := i.add(addedDuring); err != nil {
			return err
		}
		return i.remove(removedDuring)
	}
	return eachInformer(change)(ctx, s)
}

// eachInformer calls a function for every informer. The goroutines that the function starts get the
// instance's label, so that they can be counted.
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

// all says whether a condition is true for every informer.
func (s *scenario) all(condition func(*testInformer) bool) bool {
	return allMatch(slices.Values(s.instances), func(in *instance) bool { return in.all(condition) })
}

// allMatch says whether a condition is true for every element of a sequence.
func allMatch[T any](elements iter.Seq[T], condition func(T) bool) bool {
	for element := range elements {
		if !condition(element) {
			return false
		}
	}
	return true
}

// waitUntil waits until a condition is true, up to the timeout of the scale. The description is for
// the error.
func (r *runner) waitUntil(ctx context.Context, description string, condition func() bool) error {
	err := wait.PollUntilContextTimeout(ctx, 5*time.Millisecond, r.scale.timeout, true,
		func(context.Context) (bool, error) { return condition(), nil })
	if wait.Interrupted(err) && ctx.Err() == nil {
		return fmt.Errorf("timed out after %v waiting until %s", r.scale.timeout, description)
	}
	return err
}

// stop stops all instances, and waits until none of their goroutines is left.
func (s *scenario) stop() error {
	var errs []error
	for _, in := range s.instances {
		in.stop()
		noneLeft := func() bool { return usage.Goroutines(label, in.name) == 0 }
		errs = append(errs, s.waitUntil(context.Background(), "no goroutine of "+in.name+" is left", noneLeft))
	}
	return errors.Join(errs...)
}
