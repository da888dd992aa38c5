// After a fault: how long it takes until the stores are right again, and what the
// checker finds then.

package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/fields"

	"example.com/informer/scripts/harness/record"
	"example.com/informer/scripts/harness/requests"
	"example.com/informer/scripts/harness/usage"
)

// list asks the server, unless the latest list is younger than maxAge.
func list(maxAge time.Duration) step {
	return func(ctx context.Context, s *scenario) error {
		if time.Since(s.listed) < maxAge {
			return nil
		}
		now, all, versions := time.Now(), map[string][]record.Object{}, map[string]map[string]string{}
		for _, resource := range resources {
			objects, err := record.List(ctx, s.env.client.CoreV1().RESTClient(), resource, "", fields.Everything())
			if err != nil {
				return err
			}
			all[resource], versions[resource] = objects, record.Versions(objects)
		}
		s.listed, s.objects, s.versions = now, all, versions
		return nil
	}
}

// refresh lists often enough while stores catch up: a server that was frozen may
// still make a change when it goes on.
var refresh = list(200 * time.Millisecond)

func (s *scenario) upToDate(i *testInformer) bool {
	return record.UpToDate(i.GetStore(), s.versions[i.resource])
}

// knownToHandlers tells whether every handler knows what the server has.
func (s *scenario) knownToHandlers(i *testInformer) bool {
	return every(maps.Values(i.handlers), func(h *handler) bool { return !h.Behind(s.versions[i.resource]) })
}

// measure notes what each instance uses before the fault.
func measure(ctx context.Context, s *scenario) error {
	if err := s.until(ctx, "all stores are up to date before the fault", func() bool {
		return refresh(ctx, s) == nil && s.all(s.upToDate)
	}); err != nil {
		return err
	}
	for _, in := range s.instances {
		if in.goroutines = usage.Goroutines(label, in.name); in.goroutines == 0 {
			return fmt.Errorf("no goroutine has the label of %s: a leak would not be found", in.name)
		}
	}
	s.heap, s.files = usage.Heap(), openFiles()
	return nil
}

// waitForRecovery waits until every store is up to date, and notes how long that took. For an
// implementation that is known to fail it waits three seconds longer than for the other.
func waitForRecovery(ctx context.Context, s *scenario) error {
	if err := list(0)(ctx, s); err != nil {
		return err
	}
	latest := time.Now()               // recovery of an instance
	_ = s.until(ctx, "", func() bool { // an instance that never recovers is left to the checker
		up := refresh(ctx, s) == nil
		for _, in := range s.instances {
			if up && in.result.recovery == never && in.all(s.upToDate) {
				latest = time.Now()
				in.result.recovery = latest.Sub(s.faultEnd)
			}
		}
		return every(slices.Values(s.instances), func(in *instance) bool {
			known := in.name == clientGo && s.fault.clientGoFails != ""
			return in.result.recovery < never || known && time.Since(latest) > 3*time.Second
		})
	})
	return ctx.Err()
}

// check adds the last handlers, lets those that are behind catch up, and then
// checks every instance.
func check(ctx context.Context, s *scenario) error {
	changes := s.load.takeChanges()
	err := steps{
		eachInformer(func(i *testInformer) error {
			i.handlers[stuck].resume()
			return i.add(addedAfter)
		}),
		catchUp, list(0),
	}.take(ctx, s)
	if err != nil {
		return err
	}
	allowed := s.heap + 64<<20
	for _, in := range s.instances {
		var found []error
		contents := record.Contents{} // not shared: the objects of another instance may be wrong
		for _, i := range in.informers {
			checker := record.Checker{
				Server: s.objects[i.resource], Store: i.GetIndexer(), Contents: contents,
				Recorders: map[string]*record.Recorder{}, Complete: fast,
			}
			for kind, h := range i.handlers {
				checker.Recorders[kind] = h.Recorder
				calls, _ := h.Calls()
				in.result.events += len(calls)
			}
			// After the first list alone no change can have been left out.
			if in.http.Requests(i.resource, "200", requests.List, requests.WatchList) == 1 {
				checker.Changes = changes[i.resource]
			}
			found = append(found, checker.Check()...)
		}
		found = append(found, s.checkUsage(ctx, in)...)
		in.result.errors, in.result.err = len(found), record.Summary(found)
		allowed += in.result.events << 10
	}
	// The runner looks at what is left when the scenario is over.
	if now := usage.Heap(); now > allowed {
		return fmt.Errorf("the heap has %d MiB, it had %d MiB before the fault, and the recorded calls explain %d MiB",
			now>>20, s.heap>>20, allowed>>20)
	}
	return nil
}

// catchUp waits until the instances have noticed the fault and their handlers know
// what the server has.
func catchUp(ctx context.Context, s *scenario) error {
	for _, in := range s.instances {
		if err := s.until(ctx, in.name+" has noticed the fault", func() bool {
			return s.fault.noticed == nil || s.fault.noticed(in)
		}); err != nil {
			return fmt.Errorf("%w; requests and their outcomes: %v", err, in.http.Counts())
		}
		if in.result.recovery < never {
			// A handler that never catches up is left to the checker.
			_ = s.until(ctx, "", func() bool { return in.all(s.knownToHandlers) })
		}
	}
	return nil
}

// openFiles counts the open files of the process; 0: that is not known.
func openFiles() int {
	entries, _ := os.ReadDir("/dev/fd")
	return len(entries)
}

// checkUsage finds goroutines and open files that were not there before the fault.
func (s *scenario) checkUsage(ctx context.Context, in *instance) []error {
	var now, files int
	err := s.until(ctx, "", func() bool {
		now, files = usage.Goroutines(label, in.name), openFiles()
		return now <= in.goroutines && files > 0 && files <= s.files
	})
	if err != nil {
		return []error{fmt.Errorf("%d goroutines, %d before; %d open files in the process, %d before",
			now, in.goroutines, files, s.files)}
	}
	return nil
}
