// After a fault: how long it takes until the stores are up to date again, and the checks after
// that.

package main

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/fields"

	"example.com/informer/scripts/harness/fault"
	"example.com/informer/scripts/harness/record"
	"example.com/informer/scripts/harness/usage"
)

// list lists the objects of the server, unless the latest list is younger than maxAge.
func list(maxAge time.Duration) step {
	return func(ctx context.Context, s *scenario) error {
		if time.Since(s.listed) < maxAge {
			return nil
		}
		now := time.Now()
		objects := map[string][]record.Object{}
		versions := map[string]map[string]string{}
		for _, resource := range resources {
			listed, err := record.List(ctx, s.env.client.CoreV1().RESTClient(), resource, "", fields.Everything())
			if err != nil {
				return err
			}
			objects[resource] = listed
			versions[resource] = record.Versions(listed)
		}
		s.listed, s.objects, s.versions = now, objects, versions
		return nil
	}
}

// refresh lists again and again while stores catch up: a server that was frozen may still make a
// change after the fault.
var refresh = list(200 * time.Millisecond)

// upToDate says whether the store of an informer has the objects of the latest list.
func (s *scenario) upToDate(i *testInformer) bool {
	return record.UpToDate(i.GetStore(), s.versions[i.resource])
}

// handlersUpToDate says whether every handler of an informer has got the objects of the latest
// list.
func (s *scenario) handlersUpToDate(i *testInformer) bool {
	return allMatch(maps.Values(i.handlers), func(h *handler) bool { return !h.Behind(s.versions[i.resource]) })
}

// measure records the goroutines, memory and files in use before the fault.
func measure(ctx context.Context, s *scenario) error {
	if err := s.waitUntil(ctx, "all stores are up to date before the fault", func() bool {
		return refresh(ctx, s) == nil && s.all(s.upToDate)
	}); err != nil {
		return err
	}
	for _, in := range s.instances {
		in.goroutines = usage.Goroutines(label, in.name)
		if in.goroutines == 0 {
			return fmt.Errorf("no goroutine has the label of %s: a leak would not be found", in.name)
		}
	}
	s.heap, s.files = usage.Heap(), openFiles()
	return nil
}

// waitForRecovery waits until every store is up to date, and records how long each instance took.
// For an instance that is known to fail, it waits until three seconds after the last recovery of
// another.
func waitForRecovery(ctx context.Context, s *scenario) error {
	if err := list(0)(ctx, s); err != nil {
		return err
	}
	lastRecovery := time.Now()
	isDone := func(in *instance) bool {
		if in.result.recovery < never {
			return true
		}
		return s.isKnownToFail(in) && time.Since(lastRecovery) > 3*time.Second
	}
	// The error is dropped: the checker reports an instance that has not recovered.
	_ = s.waitUntil(ctx, "", func() bool {
		if err := refresh(ctx, s); err == nil {
			for _, in := range s.instances {
				if in.result.recovery == never && in.all(s.upToDate) {
					lastRecovery = time.Now()
					in.result.recovery = lastRecovery.Sub(s.faultEnd)
				}
			}
		}
		return allMatch(slices.Values(s.instances), isDone)
	})
	return ctx.Err()
}

// isKnownToFail says whether the fault makes this instance fail.
func (s *scenario) isKnownToFail(in *instance) bool {
	return in.name == clientGo && s.fault.clientGoFails != ""
}

// check adds the last handlers, waits until all handlers have caught up, and then checks every
// instance.
func check(ctx context.Context, s *scenario) error {
	changes := s.load.takeChanges()
	addLastHandlers := eachInformer(func(i *testInformer) error {
		i.handlers[stuck].resume()
		return i.add(addedAfter)
	})
	if err := (steps{addLastHandlers, catchUp, list(0)}).run(ctx, s); err != nil {
		return err
	}
	allowed := s.heap + 64<<20
	for _, in := range s.instances {
		found := append(s.checkInformers(in, changes), s.checkUsage(ctx, in)...)
		in.result.errors, in.result.err = len(found), record.Summary(found)
		allowed += in.result.events << 10
	}
	// This is a limit for the running scenario. After the scenario, the runner checks for leaks.
	if now := usage.Heap(); now > allowed {
		return fmt.Errorf("the heap has %d MiB, it had %d MiB before the fault, and the recorded calls explain %d MiB",
			now>>20, s.heap>>20, allowed>>20)
	}
	return nil
}

// checkInformers runs the checker on all informers of an instance, and counts the calls of their
// handlers.
func (s *scenario) checkInformers(in *instance, changes map[string][]record.Change) (found []error) {
	contents := record.Contents{} // one for each instance, because the objects of another instance may be wrong
	for _, i := range in.informers {
		checker := record.Checker{
			Server: s.objects[i.resource], Store: i.GetIndexer(), Contents: contents,
			Recorders: map[string]*record.Recorder{}, Complete: fast,
		}
		for kind, h := range i.handlers {
			checker.Recorders[kind] = h.Recorder
			calls, _ := h.Calls() // the checker reports the errors
			in.result.events += len(calls)
		}
		// If the informer has listed only once, it must have delivered every change. A relist may
		// skip changes.
		lists := in.requests.Count(func(sent *fault.Request) bool {
			isList := sent.Verb == fault.List || sent.Verb == fault.WatchList
			return isList && sent.Resource == i.resource && sent.Status == http.StatusOK
		})
		if lists == 1 {
			checker.Changes = changes[i.resource]
		}
		found = append(found, checker.Check()...)
	}
	return found
}

// catchUp waits until the instances have noticed the fault, and their handlers have got the objects
// of the server.
func catchUp(ctx context.Context, s *scenario) error {
	for _, in := range s.instances {
		if err := s.waitUntil(ctx, in.name+" has noticed the fault", func() bool {
			return s.fault.noticed == nil || s.fault.noticed(in)
		}); err != nil {
			return fmt.Errorf("%w; requests: %s", err, &in.requests)
		}
		if in.result.recovery < never {
			// The error is dropped: the checker reports a handler that has not caught up.
			_ = s.waitUntil(ctx, "", func() bool { return in.all(s.handlersUpToDate) })
		}
	}
	return nil
}

// openFiles returns the number of open files of the process, or 0 if the number is not known.
func openFiles() int {
	entries, _ := os.ReadDir("/dev/fd")
	return len(entries)
}

// checkUsage returns an error if there are more goroutines or open files than before the fault.
func (s *scenario) checkUsage(ctx context.Context, in *instance) []error {
	var now, files int
	err := s.waitUntil(ctx, "", func() bool {
		now, files = usage.Goroutines(label, in.name), openFiles()
		return now <= in.goroutines && files > 0 && files <= s.files
	})
	if err != nil {
		return []error{fmt.Errorf("%d goroutines, %d before; %d open files in the process, %d before",
			now, in.goroutines, files, s.files)}
	}
	return nil
}
