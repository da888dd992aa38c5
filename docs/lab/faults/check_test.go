// After a fault: how long it takes until the stores are up to date again, and the checks after
// that.

package faults

import (
	"fmt"
	"net/http"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/fields"

	"example.com/informer/scripts/harness/fault"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/record"
	"example.com/informer/scripts/harness/usage"
)

// list lists the objects of the server.
func (s *scenario) list() error {
	now := time.Now()
	objects, versions := map[string][]record.Object{}, map[string]map[string]string{}
	for _, resource := range resources {
		listed, err := record.List(s.Context(), s.env.client.CoreV1().RESTClient(), resource, "", fields.Everything())
		if err != nil {
			return err
		}
		objects[resource], versions[resource] = listed, record.Versions(listed)
	}
	s.listed, s.objects, s.versions = now, objects, versions
	return nil
}

// refresh lists again, unless the latest list is very young, and reports whether the list is up to
// date. Waits call it again and again: a server that was frozen may still make a change after the
// fault.
func (s *scenario) refresh() bool {
	return time.Since(s.listed) < 200*time.Millisecond || s.list() == nil
}

// upToDate reports whether the store of an informer has the objects of the latest list.
func (s *scenario) upToDate(i *testInformer) bool {
	return record.UpToDate(i.GetStore(), s.versions[i.resource])
}

// handlersUpToDate reports whether every handler of an informer has got the objects of the latest
// list.
func (s *scenario) handlersUpToDate(i *testInformer) bool {
	for _, h := range i.handlers {
		if h.Behind(s.versions[i.resource]) {
			return false
		}
	}
	return true
}

// measure records the goroutines, memory and files in use before the fault.
func (s *scenario) measure() {
	s.until("all stores are up to date before the fault", func() bool {
		return s.refresh() && s.everyInformer(s.upToDate)
	})
	for _, in := range s.instances {
		in.goroutines = usage.Goroutines(label, in.name)
		if in.goroutines == 0 {
			s.Fatalf("no goroutine has the label of %s: a leak would not be found", in.name)
		}
	}
	s.heap, s.files = usage.Heap(), openFiles()
}

// waitForRecovery waits until every store is up to date, and records how long each instance took.
// For an instance that is known to fail, it waits until three seconds after the last recovery of
// another.
func (s *scenario) waitForRecovery() {
	must.NoError(s, s.list())
	lastRecovery := time.Now()
	// The error is dropped: the checker reports an instance that has not recovered.
	_ = s.wait(func() bool {
		if !s.refresh() {
			return false
		}
		for _, in := range s.instances {
			if in.result.recovery == never && in.every(s.upToDate) {
				lastRecovery = time.Now()
				in.result.recovery = lastRecovery.Sub(s.faultEnd)
			}
		}
		return s.every(func(in *instance) bool {
			return in.result.recovery < never || s.isKnownToFail(in) && time.Since(lastRecovery) > 3*time.Second
		})
	})
}

// isKnownToFail reports whether the fault makes this instance fail.
func (s *scenario) isKnownToFail(in *instance) bool {
	return in.name == clientGo && s.fault.clientGoFails != ""
}

// check adds the last handlers, waits until all handlers have caught up, and then checks every
// instance.
func (s *scenario) check() results {
	changes := s.load.takeChanges()
	s.eachInformer(func(i *testInformer) {
		i.handlers[stuck].resume()
		must.NoError(s, i.add(addedAfter))
	})
	s.catchUp()
	must.NoError(s, s.list())
	all := results{}
	allowed := s.heap + 64<<20
	for _, in := range s.instances {
		found := s.checkInformers(in, changes)
		if err := s.checkUsage(in); err != nil {
			found = append(found, err)
		}
		in.result.errors = len(found)
		s.report(in, found)
		all[in.name] = in.result
		allowed += in.result.events << 10
	}
	// This is a limit for the running scenario. After the scenario, the runner checks for leaks.
	if now := usage.Heap(); now > allowed {
		s.Fatalf("the heap has %d MiB, it had %d MiB before the fault, and the recorded calls explain %d MiB",
			now>>20, s.heap>>20, allowed>>20)
	}
	return all
}

// report logs the result of an instance. It wants no errors, except for an error of client-go that is
// known.
func (s *scenario) report(in *instance, found []error) {
	s.Logf("%s: %d events, recovery in %s s", in.name, in.result.events, seconds(in.result.recovery))
	err := record.Summary(found)
	switch {
	case !s.isKnownToFail(in) && err != nil:
		s.Errorf("%s has %d errors, want none:\n%v", in.name, len(found), err)
	case s.isKnownToFail(in) && err == nil:
		s.Errorf("%s has no errors, want some: it %s", in.name, s.fault.clientGoFails)
	case err != nil:
		s.Logf("%s has %d errors, as expected: it %s:\n%v", in.name, len(found), s.fault.clientGoFails, err)
	}
}

// catchUp waits until the instances have noticed the fault, and their handlers have got the objects
// of the server.
func (s *scenario) catchUp() {
	for _, in := range s.instances {
		if s.fault.noticed != nil && s.wait(func() bool { return s.fault.noticed(in) }) != nil {
			s.Fatalf("%s has not noticed the fault; its requests: %s", in.name, &in.requests)
		}
		if in.result.recovery < never {
			// The error is dropped: the checker reports a handler that has not caught up.
			_ = s.wait(func() bool { return in.every(s.handlersUpToDate) })
		}
	}
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

// checkUsage returns an error if there are more goroutines or open files than before the fault.
func (s *scenario) checkUsage(in *instance) error {
	var now, files int
	err := s.wait(func() bool {
		now, files = usage.Goroutines(label, in.name), openFiles()
		return now <= in.goroutines && files > 0 && files <= s.files
	})
	if err != nil {
		return fmt.Errorf("%d goroutines, %d before; %d open files in the process, %d before",
			now, in.goroutines, files, s.files)
	}
	return nil
}

// openFiles returns the number of open files of the process, or 0 if the number is not known.
func openFiles() int {
	entries, _ := os.ReadDir("/dev/fd")
	return len(entries)
}
