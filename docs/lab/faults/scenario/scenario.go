// Package scenario runs informers of different implementations through the same
// fault, at the same time, and checks them.
package scenario

import (
	"context"
	"errors"
	"fmt"
	"runtime/pprof"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"example.com/informer/docs/lab/faults/testenv"
	"example.com/informer/docs/lab/faults/workload"
	"example.com/informer/scripts/harness/usage"
)

// A Fault is something that goes wrong.
type Fault struct {
	Name string
	// Before prepares what the fault needs, before the informers start; After
	// cleans up. Both can be nil.
	Before, After []Step
	// Do injects the fault. The fault is over after the last step.
	Do []Step
	// Noticed tells whether an instance has met the fault. It can be nil.
	Noticed func(*Instance) bool
	// KnownFailures says what an implementation does wrong, by its name.
	KnownFailures map[string]string
}

// A Step is a part of a fault.
type Step func(context.Context, *Scenario) error

// Sequence is a step that takes others, one after the other, up to the first error.
func Sequence(steps ...Step) Step {
	return func(ctx context.Context, s *Scenario) error {
		for _, step := range steps {
			if err := step(ctx, s); err != nil {
				return err
			}
		}
		return nil
	}
}

// Scale says how long faults last and how large they are.
type Scale struct {
	Hold          time.Duration // how long most faults last
	Freeze        time.Duration // how long the servers are frozen
	SlowList      time.Duration // how long a slow list takes
	Deletes       int           // objects that are deleted in one call
	ShortTimeouts bool          // clients notice faults sooner than by default: see connect
	Timeout       time.Duration // for whatever the scenario waits for
}

// A Scenario is one fault that several instances go through.
type Scenario struct {
	Environment *testenv.Environment
	Workload    *workload.Workload
	Scale       Scale
	Instances   []*Instance

	implementations []Implementation
	fault           Fault
	files           int       // open in the process, before the fault
	heap            int       // bytes in use before the fault
	failures        int       // of changes, before the fault
	handlersChanged bool      // ChangeHandlers was called
	faultEnd        time.Time // when the fault was over
	server          serverState
}

// A Result is how one implementation did.
type Result struct {
	Fault, Implementation string
	Events                int           // calls of its handlers
	Errors                int           // what the checker found
	Recovery              time.Duration // from the end of the fault until the stores were right; 0: never
	Err                   error         // the first of the errors
	KnownFailure          string        // why errors are expected; empty: they are not
}

// warmUp is how many changes are made before the informers start, and again
// before the fault.
const warmUp = 100

// Run runs the implementations through a fault, and returns the results by their
// names.
func Run(ctx context.Context, env *testenv.Environment, load *workload.Workload, scale Scale, fault Fault,
	implementations []Implementation) (map[string]Result, error) {
	s := &Scenario{Environment: env, Workload: load, Scale: scale, fault: fault, implementations: implementations}
	if err := s.run(ctx); err != nil {
		return nil, fmt.Errorf("%s: %w", fault.Name, err)
	}
	results := map[string]Result{}
	for _, in := range s.Instances {
		results[in.Name] = in.result
	}
	return results, nil
}

func (s *Scenario) run(ctx context.Context) (err error) {
	if err := Sequence(s.fault.Before...)(ctx, s); err != nil {
		return fmt.Errorf("before: %w", err)
	}
	defer func() { err = errors.Join(err, Sequence(s.fault.After...)(ctx, s)) }()
	defer func() { err = errors.Join(err, s.stop()) }()
	for _, phase := range []func(context.Context) error{s.start, s.measure, s.inject, s.waitForRecovery, s.check} {
		if err := phase(ctx); err != nil {
			return err
		}
	}
	return nil
}

// start starts the informers while changes are made, and returns when all handlers
// have synced.
func (s *Scenario) start(ctx context.Context) error {
	s.Workload.Start(ctx)
	defer s.Workload.Pause()
	if err := s.WaitForChanges(ctx, warmUp); err != nil {
		return err
	}
	for _, impl := range s.implementations {
		in, err := startInstance(ctx, s.Environment, impl, s.Scale.ShortTimeouts)
		if err != nil {
			return err
		}
		in.result = Result{
			Fault: s.fault.Name, Implementation: in.Name, KnownFailure: s.fault.KnownFailures[in.Name],
		}
		s.Instances = append(s.Instances, in)
	}
	return s.Until(ctx, "all handlers have synced", func() bool { return s.all((*informer).synced) })
}

// WaitForChanges waits until n more changes were confirmed.
func (s *Scenario) WaitForChanges(ctx context.Context, n int) error {
	before, _ := s.Workload.Counts()
	return s.Until(ctx, fmt.Sprintf("%d changes are made", n), func() bool {
		now, _ := s.Workload.Counts()
		return now >= before+n
	})
}

// WaitForFailure waits until a change has failed: the fault hits the workload, too.
func WaitForFailure(ctx context.Context, s *Scenario) error {
	return s.Until(ctx, "a change fails", func() bool {
		_, failures := s.Workload.Counts()
		return failures > s.failures
	})
}

// inject injects the fault while changes are made, and notes when it is over. The
// handlers that stall do so meanwhile.
func (s *Scenario) inject(ctx context.Context) error {
	s.Workload.TakeChanges()
	s.Workload.Start(ctx)
	defer s.Workload.Pause()
	if err := s.WaitForChanges(ctx, warmUp); err != nil {
		return err
	}
	_, s.failures = s.Workload.Counts()
	err := s.each(ctx, func(i *informer) error {
		i.handlers[stalled].gate.close()
		i.handlers[stuck].gate.close()
		return i.remove(removedBefore)
	})
	if err != nil {
		return err
	}
	if err := Sequence(s.fault.Do...)(ctx, s); err != nil {
		return err
	}
	s.faultEnd = time.Now()
	if err := ChangeHandlers(ctx, s); err != nil {
		return err
	}
	return s.each(ctx, func(i *informer) error {
		i.handlers[stalled].gate.open()
		return nil
	})
}

// ChangeHandlers adds handlers and removes others. Only the first call in a
// scenario does so: a fault calls it while it lasts.
func ChangeHandlers(ctx context.Context, s *Scenario) error {
	if s.handlersChanged {
		return nil
	}
	s.handlersChanged = true
	return s.each(ctx, func(i *informer) error { return errors.Join(i.add(addedDuring), i.remove(removedDuring)) })
}

// Hold lets a fault last.
func (s *Scenario) Hold(ctx context.Context, d time.Duration) error {
	end, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	if err := ChangeHandlers(ctx, s); err != nil {
		return err
	}
	<-end.Done()
	return context.Cause(ctx)
}

// each does something to every informer. The goroutines that it starts get the
// instance's label, to be counted.
func (s *Scenario) each(ctx context.Context, do func(*informer) error) error {
	var errs []error
	for _, in := range s.Instances {
		pprof.Do(ctx, pprof.Labels(label, in.Name), func(context.Context) {
			for _, i := range in.informers {
				errs = append(errs, do(i))
			}
		})
	}
	return errors.Join(errs...)
}

// all tells whether something is true of every informer.
func (s *Scenario) all(condition func(*informer) bool) bool {
	return !slices.ContainsFunc(s.Instances, func(in *Instance) bool { return !in.all(condition) })
}

// pollInterval is how often a condition is checked.
const pollInterval = 5 * time.Millisecond

// Until waits for a condition, up to the timeout.
func (s *Scenario) Until(ctx context.Context, what string, condition func() bool) error {
	err := wait.PollUntilContextTimeout(ctx, pollInterval, s.Scale.Timeout, true,
		func(context.Context) (bool, error) { return condition(), nil })
	if wait.Interrupted(err) && ctx.Err() == nil {
		return fmt.Errorf("timed out after %v waiting until %s", s.Scale.Timeout, what)
	}
	return err
}

// stop stops all instances, and waits until none of their goroutines is left.
func (s *Scenario) stop() error {
	var errs []error
	for _, in := range s.Instances {
		in.stop()
		err := s.Until(context.Background(), fmt.Sprintf("no goroutine of %s is left", in.Name), func() bool {
			return usage.Goroutines(label, in.Name) == 0
		})
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
