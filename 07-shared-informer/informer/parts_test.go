// What our informer promises beyond the contract, and which part does not keep it.

package informer_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/scripts/harness/must"
)

// Why a test does not pass with a part.
const (
	grouped = "a DeltaFIFO groups changes by object: it keeps no order between objects, and drops bookmarks and " +
		"deletes of unknown objects"
	lost       = "a list that the store refuses is lost behind a queue: the reflector does not get the error"
	badIndex   = "an index function that fails makes an indexer panic, as client-go's does"
	eachChange = "channels deliver each notification, and fold none"
	noChunks   = "only a journal has chunks"
)

// notPassed has, by part, the tests of this package that an informer with this part does not pass,
// and why. A test stands for all of its subtests.
var notPassed = map[string]map[string]string{
	"DeltaFIFO": {
		"TestLastSyncResourceVersion":             grouped,
		"TestAnObjectWithoutANameIsLeftOut":       grouped,
		"TestWaitForVersion":                      grouped,
		"TestWaitForVersionBeforeTheFirstList":    grouped,
		"TestWaitForVersionThatATransformRefuses": grouped,
		"TestWaitForVersionEndsBeforeTheHandlers": grouped,
	},
	"RealFIFO": {
		"TestAListThatAnIndexFunctionPanicsOverIsRefused": lost,
	},
	"Indexer": {
		"TestAnEventThatAnIndexFunctionPanicsOverIsLeftOut":          badIndex,
		"TestAListThatAnIndexFunctionPanicsOverIsRefused":            badIndex,
		"TestWaitForVersion/an_event_that_an_index_function_refuses": badIndex,
		"TestWaitForVersion/a_list_that_is_refused":                  badIndex,
	},
	"channels": {
		"TestAStalledHandlerDoesNotGetEveryChange":                     eachChange,
		"TestWhatComesBackUnseenIsAnUpdateOfWhatTheHandlerGot":         eachChange,
		"TestAnObserverSeesWhatIsFolded":                               eachChange,
		"TestAnObserverSeesWhatAllPartsDo":                             noChunks,
		"TestAnObserverThatPanics/journal.ChunkStarted":                noChunks,
		"TestStopIsSafeInEveryCallback/observer,_journal.ChunkStarted": noChunks,
	},
}

// keeps reports whether the implementation that is the last part of the test's name has to pass it.
func keeps(t *testing.T) bool {
	parts := strings.Split(t.Name(), "/")
	implementation := parts[len(parts)-1]
	for n := range len(parts) - 1 {
		test := strings.Join(parts[:n+1], "/")
		for _, part := range partsOf[implementation] {
			if notPassed[part][test] != "" {
				return os.Getenv(runAll) != ""
			}
		}
	}
	return true
}

// A test that an implementation passes does not belong into the table.
func TestWhatIsNotPassedFails(t *testing.T) {
	for part, tests := range notPassed {
		implementation := culprits[part]
		for test, reason := range tests {
			t.Run(test+"/"+implementation, func(t *testing.T) {
				t.Parallel()
				pattern := strings.ReplaceAll(test, "/", "$/^") + "$"
				if !strings.Contains(test, "/") && hasSubtests[test] {
					pattern += "/."
				}
				output, err := must.RunInSubprocess(t, pattern+"/^"+implementation, runAll+"=yes")
				failed := regexp.MustCompile("--- FAIL: " + test + "/(.*/)?" + implementation + "|panic: ")
				if err == nil || !failed.MatchString(output) {
					t.Errorf("%s: the test ended with %v, want that it fails:\n%s", reason, err, output)
				}
			})
		}
	}
}

// hasSubtests has the tests of the table whose names have another part before the implementation.
var hasSubtests = map[string]bool{"TestWaitForVersion": true, "TestWaitForVersionEndsBeforeTheHandlers": true}

// A heldQueue pops only when a test allows it.
type heldQueue struct {
	informer.Queue
	pops chan struct{}
}

func (q heldQueue) Pop(process func(cache.Deltas, bool) error) error {
	<-q.pops
	return q.Queue.Pop(process)
}

// Three changes wait in the queue: a in version 3, b in version 4, a in version 5. A DeltaFIFO pops both
// changes of a first. Then the store has version 5, and not b.
func TestTheVersionOfAStoreBehindADeltaFIFO(t *testing.T) {
	for name, want := range map[string]string{"deltafifo": "5 [ns/a]", "part-one": "3 [ns/a]"} {
		inFakeTime(t, func(t *testing.T) {
			newQueue, pops := informer.RealFIFO, make(chan struct{})
			if name == "deltafifo" {
				newQueue = informer.DeltaFIFO
			}
			r := newRig(informer.Parts{Queue: func(known cache.KeyListerGetter) informer.Queue {
				return heldQueue{newQueue(known), pops}
			}}.New, options())
			defer close(pops) // before the end of the run, which waits for the loop
			r.run(t)
			w := r.server.NextWatch()
			if name == "part-one" {
				pops <- struct{}{} // the first list, which is empty: a DeltaFIFO does not queue it
			}
			w.Add(configMap("a", "3"))
			w.Add(configMap("b", "4"))
			w.Modify(configMap("a", "5"))
			synctest.Wait()
			pops <- struct{}{}
			synctest.Wait()
			got := fmt.Sprint(r.GetStore().LastStoreSyncResourceVersion(), " ", keys(r.GetStore()))
			if got != want {
				t.Errorf("%s: after a pop the store has version and keys %s, want %s", name, got, want)
			}
		})
	}
}

func TestNobodyCanWaitForAVersionBehindADeltaFIFO(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		r := newRig(implementations["deltafifo"], options(), configMap("a", "1"))
		wantFailed(t, waitFor(t.Context(), r, "1"), "the queue, a DeltaFIFO, keeps no order between objects")
	})
}

// The transform runs in the goroutine of the reflector. The caller of RunWithContext can recover
// from its panic, and the log says where the panic was.
func TestATransformThatPanics(t *testing.T) {
	forOurs(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"))
		must.NoError(t, r.SetTransform(func(any) (any, error) { panic("ouch") }))
		text := logged(t, func(logger klog.Logger) {
			if p := <-r.runAndRecover(klog.NewContext(t.Context(), logger)); p != "ouch" {
				t.Errorf("RunWithContext panicked with %v, want ouch", p)
			}
		})
		if !strings.Contains(text, "TestATransformThatPanics") {
			t.Errorf("the log does not name the function that panics:\n%s", text)
		}
		if !r.IsStopped() {
			t.Error("IsStopped() = false, want true")
		}
	})
}
