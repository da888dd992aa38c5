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
	if err := b.Until(ctx, "all is well before the fault", func() bool {
		return b.look(ctx, refresh) == nil && b.all(b.isTrue)
	}); err != nil {
		return err
	}
	for _, s := range b.Subjects {
		if s.baseline, err = goroutines(s.Name); err != nil {
			return err
		}
		if s.baseline == 0 {
			return fmt.Errorf("no goroutine is known to be of %s: a leak would not be found", s.Name)
		}
	}
	b.heap = Heap()
	b.files, err = descriptors()
	return err
}

// refresh is how old the truth may get while it is waited for: a change that a
// frozen server had in hand is made when it thaws.
const refresh = 200 * time.Millisecond

// recover waits until every store is true, or it is clear that one never will
// be, and notes how long that took.
func (b *Bout) recover(ctx context.Context) error {
	if err := b.look(ctx, 0); err != nil {
		return err
	}
	last := time.Now() // when it had begun, or a store became true
	for left := len(b.Subjects); left > 0 && time.Since(last) < b.patience(); {
		if err := b.look(ctx, refresh); err != nil {
			return err
		}
		for _, s := range b.Subjects {
			if s.result.Recovery == 0 && s.all(b.isTrue) {
				last = time.Now()
				s.result.Recovery = last.Sub(b.over)
				left--
			}
		}
		if err := b.Hold(ctx, lookEvery); err != nil {
			return err
		}
	}
	return nil
}

// hopeless is how long to wait, after the others, for a contender that is known
// not to survive.
const hopeless = 3 * time.Second

func (b *Bout) patience() time.Duration {
	for _, s := range b.Subjects {
		if s.result.Recovery == 0 && s.result.Beyond == "" {
			return b.Scale.Patience
		}
	}
	return hopeless
}

// judge lets the last handlers come and those that are behind catch up, and
// then has every subject judged.
func (b *Bout) judge(ctx context.Context) error {
	err := b.each(ctx, func(i *informer) error {
		i.handlers[stuck].gate.open()
		return i.join(last)
	})
	if err != nil {
		return err
	}
	written := b.Churn.Forget()
	for _, s := range b.Subjects {
		if err := b.Until(ctx, s.Name+" has noticed the fault", func() bool {
			return b.fault.Noticed == nil || b.fault.Noticed(s)
		}); err != nil {
			return fmt.Errorf("%w; requests and their outcomes: %v", err, s.HTTP.Counts())
		}
		if s.result.Recovery > 0 {
			// A handler that never catches up is left to the judge.
			_ = b.Until(ctx, "", func() bool {
				return s.all(func(i *informer) bool { return i.toldAll(b.truth.versions[i.resource]) })
			})
		}
	}
	if err := b.look(ctx, 0); err != nil {
		return err
	}
	for _, s := range b.Subjects {
		var found []error
		contents := judge.Contents{} // its own: what another one made up is not its fault
		for _, i := range s.informers {
			e, events := i.evidence(b.truth.objects[i.resource], contents)
			if s.HTTP.Lists(i.resource) == 1 { // only the first: nothing can have been left out
				e.Written = written[i.resource]
			}
			found = append(found, e.Verdict()...)
			s.result.Events += events
		}
		found = append(found, b.used(ctx, s)...)
		s.result.Wrong, s.result.Verdict = len(found), judge.Some(found)
	}
	return b.weigh()
}

// weigh wants no more memory to be in use than what was written down can explain,
// and a little. (What is left when the contenders have gone is looked at later.)
func (b *Bout) weigh() error {
	const little, perEvent = 64 << 20, 1 << 10
	allowed := b.heap + little
	for _, s := range b.Subjects {
		allowed += uint64(s.result.Events) * perEvent
	}
	if now := Heap(); now > allowed {
		return fmt.Errorf("%d MiB are in use, %d MiB were before the fault, and %d MiB can be explained",
			now>>20, b.heap>>20, allowed>>20)
	}
	return nil
}

// used wants goroutines and file descriptors to be back to where they were.
func (b *Bout) used(ctx context.Context, s *Subject) []error {
	var now, files int
	err := b.Until(ctx, "", func() (back bool) {
		var errA, errB error
		now, errA = goroutines(s.Name)
		files, errB = descriptors()
		return errors.Join(errA, errB) == nil && now <= s.baseline && files <= b.files
	})
	if err != nil {
		return []error{fmt.Errorf("%d goroutines, %d before; %d open files in the process, %d before",
			now, s.baseline, files, b.files)}
	}
	return nil
}
