// The quiet point after a fault: how long it took to get there, and whether
// everything is as it should be.
package bout

import (
	"context"
	"errors"
	"fmt"
	"time"

	"example.com/informer/scripts/faults/judge"
)

// measure notes what each subject uses when all is well.
func (b *Bout) measure(ctx context.Context) (err error) {
	if err := b.until(ctx, "all is well before the fault", func() bool {
		return b.look(ctx, refresh) == nil && b.all(func(_ *Subject, i *informer) bool { return i.isTrue(b.truth.versions[i.resource]) })
	}); err != nil {
		return err
	}
	for _, s := range b.Subjects {
		if b.baseline[s.Name], err = goroutines(s.Name); err != nil {
			return err
		}
	}
	b.files, err = descriptors()
	return err
}

// refresh is how old the truth may get while it is waited for: a change that a
// frozen server had in hand is made when it thaws.
const refresh = 200 * time.Millisecond

// recover waits until every store is true, or it is clear that one never will
// be, and tells how long that took.
func (b *Bout) recover(ctx context.Context) ([]Result, error) {
	if err := b.look(ctx, 0); err != nil {
		return nil, err
	}
	results := make([]Result, len(b.Subjects))
	left := len(results)
	for i, s := range b.Subjects {
		results[i] = Result{Fault: b.fault.Name, Subject: s.Name, Beyond: b.fault.Beyond[s.Name]}
	}
	for start := time.Now(); left > 0 && time.Since(start) < b.patience(results); {
		if err := b.look(ctx, refresh); err != nil {
			return nil, err
		}
		for i, s := range b.Subjects {
			if results[i].Recovery == 0 && s.every(func(i *informer) bool { return i.isTrue(b.truth.versions[i.resource]) }) {
				results[i].Recovery = time.Since(b.over)
				left--
			}
		}
		if err := b.Hold(ctx, lookEvery); err != nil {
			return nil, err
		}
	}
	return results, nil
}

// hopeless is how long to wait for a contender that is known not to survive.
const hopeless = 3 * time.Second

func (b *Bout) patience(results []Result) time.Duration {
	for _, r := range results {
		if r.Recovery == 0 && r.Beyond == "" {
			return b.Scale.Patience
		}
	}
	return hopeless
}

// judge lets the last handlers come and those that are behind catch up, and
// then has every subject judged.
func (b *Bout) judge(ctx context.Context, results []Result) error {
	err := b.each(ctx, func(i *informer) error {
		i.handlers[stuck].gate.open()
		return i.join(last)
	})
	if err != nil {
		return err
	}
	written := b.Churn.Forget()
	for n, s := range b.Subjects {
		if results[n].Recovery > 0 {
			// A handler that never catches up is left to the judge.
			_ = b.until(ctx, "", func() bool {
				return s.every(func(i *informer) bool { return i.toldAll(b.truth.versions[i.resource]) })
			})
		}
	}
	if err := b.look(ctx, 0); err != nil {
		return err
	}
	for n, s := range b.Subjects {
		var found []error
		contents := judge.Contents{} // its own: what another one made up is not its fault
		for _, i := range s.informers {
			e := i.evidence(b.truth.objects[i.resource], contents)
			if s.HTTP.Lists(i.resource) == 1 { // only the first: nothing can have been left out
				e.Written = written[i.resource]
			}
			found = append(found, e.Verdict()...)
			results[n].Events += i.events()
		}
		if b.fault.Noticed != nil && !b.fault.Noticed(s) {
			found = append(found, fmt.Errorf("the fault was not noticed; requests and their outcomes: %v", s.HTTP.Counts()))
		}
		found = append(found, b.used(ctx, s)...)
		results[n].Wrong, results[n].Verdict = len(found), judge.Some(found)
	}
	return nil
}

// settling is how long connections that were given up may take to go.
const settling = 10 * time.Second

// used wants goroutines and file descriptors to be back to where they were.
func (b *Bout) used(ctx context.Context, s *Subject) []error {
	var now, files int
	err := Until(ctx, settling, "", func() (back bool) {
		var errA, errB error
		now, errA = goroutines(s.Name)
		files, errB = descriptors()
		return errors.Join(errA, errB) == nil && now <= b.baseline[s.Name] && files <= b.files
	})
	if err != nil {
		return []error{fmt.Errorf("%d goroutines, %d before; %d open files in the process, %d before", now, b.baseline[s.Name], files, b.files)}
	}
	return nil
}
