// Package fanouttest has the tests that a processor.Fanout has to pass, alone and with a processor:
// see Run.
package fanouttest

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/06-processor/processor"
)

var tests = []struct {
	name string
	test func(t *testing.T, newFanout func() processor.Fanout)
}{
	{"EveryListenerGetsEverythingInOrder", everyListenerGetsEverythingInOrder},
	{"TheEndOfTheInitialListIsNotCounted", TheEndOfTheInitialListIsNotCounted},
	{"AListenerGetsNothingOfThePast", aListenerGetsNothingOfThePast},
	{"NextWaits", nextWaits},
	{"CloseEndsNextAndDropsWhatWaits", closeEndsNextAndDropsWhatWaits},
	{"ListenersComeAndGo", listenersComeAndGo},
	{"WhatAllHaveReadIsGarbageThoughAllIsQuiet", whatAllHaveReadIsGarbageThoughAllIsQuiet},
	{"WhatOnlyAClosedListenerHadToReadIsGarbage", whatOnlyAClosedListenerHadToReadIsGarbage},
	{"WhatAClosedListenerHasReadIsGarbage", whatAClosedListenerHasReadIsGarbage},
	{"NothingIsKeptForNobody", nothingIsKeptForNobody},
	{"WhatWasReadLastIsGarbage", whatWasReadLastIsGarbage},
	{"WhatEveryListenerHasReadIsGarbage", whatEveryListenerHasReadIsGarbage},
	{"AllHandlersAreCalled", allHandlersAreCalled},
	{"ASlowHandlerHoldsUpNobody", aSlowHandlerHoldsUpNobody},
	{"HasSyncedWhenTheHandlerHasReturned", hasSyncedWhenTheHandlerHasReturned},
	{"AnEmptyListSyncs", anEmptyListSyncs},
	{"ResyncsAreForHandlersThatAreDue", resyncsAreForHandlersThatAreDue},
	{"ResyncsAreForNewcomersToo", resyncsAreForNewcomersToo},
	{"ABusyHandlerSkipsTheResyncsOfOthers", aBusyHandlerSkipsTheResyncsOfOthers},
	{"ARemovedHandlerIsNotCalled", aRemovedHandlerIsNotCalled},
	{"AHandlerMayRemoveItself", aHandlerMayRemoveItself},
	{"RemovedBeforeTheStart", removedBeforeTheStart},
	{"APanicIsReportedAndTheNextCallIsMadeASecondLater", aPanicIsReportedAndTheNextCallIsMadeASecondLater},
	{"ThePauseAfterAPanicEndsWithTheRegistration", thePauseAfterAPanicEndsWithTheRegistration},
	{"AtMostOneCallBeginsAfterRemove", atMostOneCallBeginsAfterRemove},
	{"AHandlerThatEndsItsGoroutineLeaves", aHandlerThatEndsItsGoroutineLeaves},
	{"StopWaitsForCallsAndDropsTheRest", stopWaitsForCallsAndDropsTheRest},
	{"StopWaitsForHandlersThatWereRemoved", stopWaitsForHandlersThatWereRemoved},
	{"StoppedBeforeTheStart", stoppedBeforeTheStart},
	{"AHandlerReadsWhatIsPresentInItsOwnGoroutine", aHandlerReadsWhatIsPresentInItsOwnGoroutine},
	{"AnObserverThatPanics", func(t *testing.T, newFanout func() processor.Fanout) {
		AnObserverThatPanics(t, newFanout)
	}},
	{"AnObserverThatPanicsInStop", anObserverThatPanicsInStop},
}

// Run runs the tests that a Fanout has to pass, each as a subtest. notKept has the tests that this
// Fanout does not pass, with the reason: Run skips them.
func Run(t *testing.T, newFanout func() processor.Fanout, notKept map[string]string) {
	known := map[string]bool{}
	for _, test := range tests {
		known[test.name] = true
		t.Run(test.name, func(t *testing.T) {
			if reason := notKept[test.name]; reason != "" {
				t.Skip("not kept:", reason)
			}
			test.test(t, newFanout)
		})
	}
	for name := range notKept {
		if !known[name] {
			t.Errorf("there is no test %q", name)
		}
	}
}

// inFakeTime runs a test with a new Fanout, in fake time.
func inFakeTime(t *testing.T, newFanout func() processor.Fanout, test func(*testing.T, processor.Fanout)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, newFanout()) })
}

// Pod makes a pod with a name and a version.
func Pod(name string, version int) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: name, ResourceVersion: fmt.Sprint(version), UID: types.UID("uid of " + name),
	}}
}

// Added makes the add of a pod in a version.
func Added(name string, version int) processor.Notification {
	return processor.Notification{Kind: processor.Added, Key: name, New: Pod(name, version)}
}

// Updated makes the update of a pod from one version to another.
func Updated(name string, from, to int) processor.Notification {
	return processor.Notification{Kind: processor.Updated, Key: name, Old: Pod(name, from), New: Pod(name, to)}
}

// Deleted makes the delete of a pod. from is the version that was delivered last, to is the final
// one.
func Deleted(name string, from, to int) processor.Notification {
	return processor.Notification{Kind: processor.Deleted, Key: name, Old: Pod(name, from), New: Pod(name, to)}
}

// Another gives the new state another UID: it is another object of the same name.
func Another(n processor.Notification) processor.Notification {
	n.New.(*corev1.Pod).UID += ", the second"
	return n
}

// Text describes a notification in words.
func Text(n processor.Notification) string {
	switch n.Kind {
	case processor.Added:
		if n.Initial {
			return fmt.Sprintf("add %s %s, initial", n.Key, Version(n.New))
		}
		return fmt.Sprintf("add %s %s", n.Key, Version(n.New))
	case processor.Updated:
		return fmt.Sprintf("update %s %s to %s", n.Key, Version(n.Old), Version(n.New))
	case processor.Deleted:
		return fmt.Sprintf("delete %s %s", n.Key, Version(n.New))
	}
	return "synced"
}

// Version returns the version of a pod, or of the pod in a tombstone.
func Version(obj any) string {
	if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		return "tombstone of " + Version(gone.Obj)
	}
	return obj.(*corev1.Pod).ResourceVersion
}

// Texts describes notifications in words.
func Texts(notifications []processor.Notification) (lines []string) {
	for _, n := range notifications {
		lines = append(lines, Text(n))
	}
	return lines
}

// A recorder is a handler that records its calls. It is for a bubble of testing/synctest.
type recorder struct {
	cache.ResourceEventHandlerDetailedFuncs

	mu    sync.Mutex
	lines []string
}

func (r *recorder) add(line string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, line)
}

// take waits until all goroutines are blocked. Then it returns the calls since the last time.
func (r *recorder) take() []string {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	lines := r.lines
	r.lines = nil
	return lines
}

// want checks the calls since the last time.
func (r *recorder) want(t *testing.T, want ...string) {
	t.Helper()
	if got := r.take(); !slices.Equal(got, want) {
		t.Errorf("the handler got the calls\n  %q\nwant\n  %q", got, want)
	}
}

func newRecorder() *recorder {
	r := &recorder{}
	r.AddFunc = func(obj any, initial bool) {
		r.add(Text(processor.Notification{
			Kind: processor.Added, Initial: initial, Key: obj.(*corev1.Pod).Name, New: obj,
		}))
	}
	r.UpdateFunc = func(old, obj any) {
		r.add(Text(processor.Notification{Kind: processor.Updated, Key: obj.(*corev1.Pod).Name, Old: old, New: obj}))
	}
	r.DeleteFunc = func(obj any) {
		r.add(Text(processor.Notification{Kind: processor.Deleted, Key: obj.(*corev1.Pod).Name, New: obj}))
	}
	return r
}
