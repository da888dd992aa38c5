// After a fault: how long it takes until the stores are right again, and what the
// checker finds then.

package scenario

import (
	"context"
	"fmt"
	"maps"
	"os"
	"time"

	"example.com/informer/docs/lab/faults/testenv"
	"example.com/informer/scripts/harness/record"
	"example.com/informer/scripts/harness/usage"
)

// serverState is what the server has of each resource, as of the latest list.
type serverState struct {
	listed   time.Time
	objects  map[string][]record.Object
	versions map[string]map[string]string
}

// list asks the server, unless the latest list is younger than maxAge.
func (s *Scenario) list(ctx context.Context, maxAge time.Duration) error {
	if time.Since(s.server.listed) < maxAge {
		return nil
	}
	state := serverState{
		listed: time.Now(), objects: map[string][]record.Object{}, versions: map[string]map[string]string{},
	}
	for _, resource := range testenv.Resources {
		objects, err := s.Environment.List(ctx, resource)
		if err != nil {
			return err
		}
		state.objects[resource], state.versions[resource] = objects, record.Versions(objects)
	}
	s.server = state
	return nil
}

// upToDate tells whether the store has what the server has, by the versions.
func (s *Scenario) upToDate(i *informer) bool {
	cached, err := record.Cached(i.GetStore())
	return err == nil && maps.Equal(record.Versions(cached), s.server.versions[i.resource])
}

// measure notes what each instance uses before the fault.
func (s *Scenario) measure(ctx context.Context) (err error) {
	if err := s.Until(ctx, "all stores are up to date before the fault", func() bool {
		return s.list(ctx, refresh) == nil && s.all(s.upToDate)
	}); err != nil {
		return err
	}
	for _, in := range s.Instances {
		if in.goroutines = usage.Goroutines(label, in.Name); in.goroutines == 0 {
			return fmt.Errorf("no goroutine has the label of %s: a leak would not be found", in.Name)
		}
	}
	s.heap = usage.Heap()
	s.files, err = openFiles()
	return err
}

// refresh is how old the latest list may get while stores catch up: a server that
// was frozen may still make a change when it goes on.
const refresh = 200 * time.Millisecond

// waitForRecovery waits until every store is up to date, or it is clear that one never
// will be, and notes how long that took.
func (s *Scenario) waitForRecovery(ctx context.Context) error {
	if err := s.list(ctx, 0); err != nil {
		return err
	}
	progress := time.Now() // when the last instance recovered
	for left := len(s.Instances); left > 0 && time.Since(progress) < s.recoveryTimeout(); {
		if err := s.list(ctx, refresh); err != nil {
			return err
		}
		for _, in := range s.Instances {
			if in.result.Recovery == 0 && in.all(s.upToDate) {
				progress = time.Now()
				in.result.Recovery = progress.Sub(s.faultEnd)
				left--
			}
		}
		if err := s.Hold(ctx, pollInterval); err != nil {
			return err
		}
	}
	return nil
}

// knownFailureTimeout is how long to wait, after the others, for an implementation
// that is known to fail.
const knownFailureTimeout = 3 * time.Second

func (s *Scenario) recoveryTimeout() time.Duration {
	for _, in := range s.Instances {
		if in.result.Recovery == 0 && in.result.KnownFailure == "" {
			return s.Scale.Timeout
		}
	}
	return knownFailureTimeout
}

// check adds the last handlers, lets those that are behind catch up, and then
// checks every instance.
func (s *Scenario) check(ctx context.Context) error {
	err := s.each(ctx, func(i *informer) error {
		i.handlers[stuck].gate.open()
		return i.add(addedAfter)
	})
	if err != nil {
		return err
	}
	changes := s.Workload.TakeChanges()
	for _, in := range s.Instances {
		if err := s.catchUp(ctx, in); err != nil {
			return err
		}
	}
	if err := s.list(ctx, 0); err != nil {
		return err
	}
	for _, in := range s.Instances {
		var found []error
		contents := record.Contents{} // not shared: the objects of another instance may be wrong
		for _, i := range in.informers {
			checker, events := i.checker(s.server.objects[i.resource], contents)
			if in.HTTP.Lists(i.resource) == 1 { // only the first list: no change can have been left out
				checker.Changes = changes[i.resource]
			}
			found = append(found, checker.Check()...)
			in.result.Events += events
		}
		found = append(found, s.checkUsage(ctx, in)...)
		in.result.Errors, in.result.Err = len(found), record.Summary(found)
	}
	return s.checkHeap()
}

// catchUp waits until the instance has noticed the fault and its handlers know
// what the server has.
func (s *Scenario) catchUp(ctx context.Context, in *Instance) error {
	if err := s.Until(ctx, in.Name+" has noticed the fault", func() bool {
		return s.fault.Noticed == nil || s.fault.Noticed(in)
	}); err != nil {
		return fmt.Errorf("%w; requests and their outcomes: %v", err, in.HTTP.Counts())
	}
	if in.result.Recovery > 0 {
		// A handler that never catches up is left to the checker.
		_ = s.Until(ctx, "", func() bool {
			return !in.some(func(i *informer) bool { return i.behind(s.server.versions[i.resource]) })
		})
	}
	return nil
}

// openFiles counts the open files of the process.
func openFiles() (int, error) {
	entries, err := os.ReadDir("/dev/fd")
	return len(entries), err
}

// checkHeap finds memory that the recorded calls do not explain. (The runner looks
// at what is left when the scenario is over.)
func (s *Scenario) checkHeap() error {
	const slack, perEvent = 64 << 20, 1 << 10
	allowed := s.heap + slack
	for _, in := range s.Instances {
		allowed += in.result.Events * perEvent
	}
	if now := usage.Heap(); now > allowed {
		return fmt.Errorf("the heap has %d MiB, it had %d MiB before the fault, and the recorded calls explain %d MiB",
			now>>20, s.heap>>20, allowed>>20)
	}
	return nil
}

// checkUsage finds goroutines and open files that were not there before the fault.
func (s *Scenario) checkUsage(ctx context.Context, in *Instance) []error {
	var now, files int
	err := s.Until(ctx, "", func() bool {
		var err error
		now = usage.Goroutines(label, in.Name)
		files, err = openFiles()
		return err == nil && now <= in.goroutines && files <= s.files
	})
	if err != nil {
		return []error{fmt.Errorf("%d goroutines, %d before; %d open files in the process, %d before",
			now, in.goroutines, files, s.files)}
	}
	return nil
}
