// Package bout lets informers of different makes live through the same fault,
// at the same time, and judges them.
package bout

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/pprof"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"example.com/informer/scripts/faults/churn"
	"example.com/informer/scripts/faults/ground"
	"example.com/informer/scripts/faults/judge"
)

// A Fault is something that goes wrong.
type Fault struct {
	Name string
	// Before prepares what the fault needs, before the subjects start; After
	// puts it away. Both can be nil.
	Before, After []Step
	// Do begins the fault; after its last step it is over.
	Do []Step
	// Noticed tells whether a subject has met the fault. It can be nil.
	Noticed func(*Subject) bool
	// Beyond says of a contender, by its name, what it does not survive, and why.
	Beyond map[string]string
}

// A Step is one of those that a fault is made of.
type Step func(context.Context, *Bout) error

// InTurn is a step that takes others, one after the other, up to the first error.
func InTurn(steps ...Step) Step {
	return func(ctx context.Context, b *Bout) error {
		for _, step := range steps {
			if err := step(ctx, b); err != nil {
				return err
			}
		}
		return nil
	}
}

// Scale says how bad faults are.
type Scale struct {
	Hold      time.Duration // how long most of them last
	Freeze    time.Duration
	SlowList  time.Duration
	Many      int           // objects that are deleted in one call
	Impatient bool          // clients that do not wait as long as client-go's usually do: see connect
	Patience  time.Duration // of the harness, with subjects
}

// A Bout is one fault that several subjects go through.
type Bout struct {
	Ground   *ground.Ground
	Churn    *churn.Churn
	Scale    Scale
	Subjects []*Subject

	contenders []Contender
	fault      Fault
	files      int       // descriptors of the process
	heap       uint64    // bytes in use
	failures   int       // of changes, before the fault
	meanwhile  bool      // handlers have come and gone
	over       time.Time // when the fault was
	truth      truth
}

// A Result is how one subject did.
type Result struct {
	Fault, Subject string
	Events         int           // calls of its handlers
	Wrong          int           // what the judge found
	Recovery       time.Duration // from the end of the fault until the store was true
	Verdict        error         // the first things that the judge found
	Beyond         string        // why the verdict was expected
}

// warmUp is how many changes are made before the subjects start, and again
// before the fault.
const warmUp = 100

// Run has the contenders go through a fault, and returns how each one did, by
// its name.
func Run(ctx context.Context, g *ground.Ground, c *churn.Churn, scale Scale, fault Fault,
	contenders []Contender) (map[string]Result, error) {
	b := &Bout{Ground: g, Churn: c, Scale: scale, fault: fault, contenders: contenders}
	if err := b.run(ctx); err != nil {
		return nil, fmt.Errorf("%s: %w", fault.Name, err)
	}
	results := map[string]Result{}
	for _, s := range b.Subjects {
		results[s.Name] = s.result
	}
	return results, nil
}

func (b *Bout) run(ctx context.Context) (err error) {
	if err := InTurn(b.fault.Before...)(ctx, b); err != nil {
		return fmt.Errorf("before: %w", err)
	}
	defer func() { err = errors.Join(err, InTurn(b.fault.After...)(ctx, b)) }()
	defer func() { err = errors.Join(err, b.stop()) }()
	for _, phase := range []func(context.Context) error{b.start, b.measure, b.disturb, b.recover, b.judge} {
		if err := phase(ctx); err != nil {
			return err
		}
	}
	return nil
}

// start has changes made and the subjects list and watch amid them, until all
// handlers have heard of the first list.
func (b *Bout) start(ctx context.Context) error {
	b.Churn.Start(ctx)
	defer b.Churn.Pause()
	if err := b.Changes(ctx, warmUp); err != nil {
		return err
	}
	for _, c := range b.contenders {
		s, err := start(ctx, b.Ground, c, b.Scale.Impatient)
		if err != nil {
			return err
		}
		s.result = Result{Fault: b.fault.Name, Subject: s.Name, Beyond: b.fault.Beyond[s.Name]}
		b.Subjects = append(b.Subjects, s)
	}
	return b.Until(ctx, "all handlers have synced", func() bool { return b.all((*informer).synced) })
}

// Changes waits until so many more changes were confirmed.
func (b *Bout) Changes(ctx context.Context, n int) error {
	before, _ := b.Churn.Made()
	return b.Until(ctx, fmt.Sprintf("%d changes are made", n), func() bool {
		now, _ := b.Churn.Made()
		return now >= before+n
	})
}

// Failure waits until a change has failed: whatever is broken, the writers feel
// it.
func Failure(ctx context.Context, b *Bout) error {
	return b.Until(ctx, "a change fails", func() bool {
		_, failures := b.Churn.Made()
		return failures > b.failures
	})
}

// disturb lets the fault happen amid changes and notes when it is over. The
// handlers that stall do so meanwhile.
func (b *Bout) disturb(ctx context.Context) error {
	b.Churn.Forget()
	b.Churn.Start(ctx)
	defer b.Churn.Pause()
	if err := b.Changes(ctx, warmUp); err != nil {
		return err
	}
	_, b.failures = b.Churn.Made()
	err := b.each(ctx, func(i *informer) error {
		i.handlers[stalled].gate.close()
		i.handlers[stuck].gate.close()
		return i.leave(gone)
	})
	if err != nil {
		return err
	}
	if err := InTurn(b.fault.Do...)(ctx, b); err != nil {
		return err
	}
	b.over = time.Now()
	if err := Meanwhile(ctx, b); err != nil {
		return err
	}
	return b.each(ctx, func(i *informer) error {
		i.handlers[stalled].gate.open()
		return nil
	})
}

// Meanwhile lets handlers come and go, once: in the midst of the fault, where
// that calls it.
func Meanwhile(ctx context.Context, b *Bout) error {
	if b.meanwhile {
		return nil
	}
	b.meanwhile = true
	return b.each(ctx, func(i *informer) error { return errors.Join(i.join(late), i.leave(leaver)) })
}

// Hold lets a fault last.
func (b *Bout) Hold(ctx context.Context, d time.Duration) error {
	end, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	if err := Meanwhile(ctx, b); err != nil {
		return err
	}
	<-end.Done()
	return context.Cause(ctx)
}

// each does something to every informer. What the subject starts for that bears
// its name, so that its goroutines can be counted.
func (b *Bout) each(ctx context.Context, do func(*informer) error) error {
	var errs []error
	for _, s := range b.Subjects {
		pprof.Do(ctx, pprof.Labels(label, s.Name), func(context.Context) {
			for _, i := range s.informers {
				errs = append(errs, do(i))
			}
		})
	}
	return errors.Join(errs...)
}

// all tells whether something is true of every informer.
func (b *Bout) all(condition func(*informer) bool) bool {
	return !slices.ContainsFunc(b.Subjects, func(s *Subject) bool { return !s.all(condition) })
}

// lookEvery is how often a condition is looked at.
const lookEvery = 5 * time.Millisecond

// Until waits for a condition, as long as patience lasts.
func (b *Bout) Until(ctx context.Context, what string, condition func() bool) error {
	err := wait.PollUntilContextTimeout(ctx, lookEvery, b.Scale.Patience, true,
		func(context.Context) (bool, error) { return condition(), nil })
	if wait.Interrupted(err) && ctx.Err() == nil {
		return fmt.Errorf("waited %v, in vain, until %s", b.Scale.Patience, what)
	}
	return err
}

// stop ends all subjects, and wants nothing to be left of them.
func (b *Bout) stop() error {
	var errs []error
	for _, s := range b.Subjects {
		s.stop()
		err := b.Until(context.Background(), fmt.Sprintf("no goroutine of %s is left", s.Name), func() bool {
			n, err := goroutines(s.Name)
			return err == nil && n == 0
		})
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// truth is what the server has of each resource, as of the latest look.
type truth struct {
	at       time.Time
	objects  map[string][]judge.Object
	versions map[string]map[string]string
}

// look asks the server, unless that was done a moment ago.
func (b *Bout) look(ctx context.Context, maxAge time.Duration) error {
	if time.Since(b.truth.at) < maxAge {
		return nil
	}
	t := truth{at: time.Now(), objects: map[string][]judge.Object{}, versions: map[string]map[string]string{}}
	for _, resource := range ground.Resources {
		objects, err := b.Ground.List(ctx, resource)
		if err != nil {
			return err
		}
		t.objects[resource], t.versions[resource] = objects, judge.Versions(objects)
	}
	b.truth = t
	return nil
}

// isTrue tells whether the store has what the server has, by the versions.
func (b *Bout) isTrue(i *informer) bool {
	held, err := judge.Held(i.GetStore())
	return err == nil && maps.Equal(judge.Versions(held), b.truth.versions[i.resource])
}
