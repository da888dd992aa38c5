// How a processor calls handlers, with the journal.

package journal

import (
	"testing"

	"example.com/informer/03-reflector/observer"
	"example.com/informer/06-processor/processor"
	"example.com/informer/06-processor/processor/fanouttest"
)

func TestAllHandlersAreCalled(t *testing.T) {
	fanouttest.AllHandlersAreCalled(t, newFanout)
}

func TestASlowHandlerHoldsUpNobody(t *testing.T) {
	fanouttest.ASlowHandlerHoldsUpNobody(t, newFanout)
}

func TestHasSyncedWhenTheHandlerHasReturned(t *testing.T) {
	fanouttest.HasSyncedWhenTheHandlerHasReturned(t, newFanout)
}

func TestAnEmptyListSyncs(t *testing.T) {
	fanouttest.AnEmptyListSyncs(t, newFanout)
}

func TestResyncsAreForHandlersThatAreDue(t *testing.T) {
	fanouttest.ResyncsAreForHandlersThatAreDue(t, newFanout)
}

func TestResyncsAreForNewcomersToo(t *testing.T) {
	fanouttest.ResyncsAreForNewcomersToo(t, newFanout)
}

func TestABusyHandlerSkipsTheResyncsOfOthers(t *testing.T) {
	fanouttest.ABusyHandlerSkipsTheResyncsOfOthers(t, newFanout)
}

func TestARemovedHandlerIsNotCalled(t *testing.T) {
	fanouttest.ARemovedHandlerIsNotCalled(t, newFanout)
}

func TestAHandlerMayRemoveItself(t *testing.T) {
	fanouttest.AHandlerMayRemoveItself(t, newFanout)
}

func TestRemovedBeforeTheStart(t *testing.T) {
	fanouttest.RemovedBeforeTheStart(t, newFanout)
}

func TestAPanicIsReportedAndTheNextCallIsMadeASecondLater(t *testing.T) {
	fanouttest.APanicIsReportedAndTheNextCallIsMadeASecondLater(t, newFanout)
}

func TestThePauseAfterAPanicEndsWithTheRegistration(t *testing.T) {
	fanouttest.ThePauseAfterAPanicEndsWithTheRegistration(t, newFanout)
}

func TestAtMostOneCallBeginsAfterRemove(t *testing.T) {
	fanouttest.AtMostOneCallBeginsAfterRemove(t, newFanout)
}

func TestAHandlerThatEndsItsGoroutineLeaves(t *testing.T) {
	fanouttest.AHandlerThatEndsItsGoroutineLeaves(t, newFanout)
}

func TestStopWaitsForCallsAndDropsTheRest(t *testing.T) {
	fanouttest.StopWaitsForCallsAndDropsTheRest(t, newFanout)
}

func TestStopWaitsForHandlersThatWereRemoved(t *testing.T) {
	fanouttest.StopWaitsForHandlersThatWereRemoved(t, newFanout)
}

func TestStoppedBeforeTheStart(t *testing.T) {
	fanouttest.StoppedBeforeTheStart(t, newFanout)
}

func TestAHandlerReadsWhatIsPresentInItsOwnGoroutine(t *testing.T) {
	fanouttest.AHandlerReadsWhatIsPresentInItsOwnGoroutine(t, newFanout)
}

// The journal has events of its own: it begins a chunk, and it folds for a handler that is busy.
func TestAnObserverThatPanics(t *testing.T) {
	manyUpdates := func(p *processor.Processor, _ *processor.Registration) {
		for v := range 2 * chunkSize {
			p.Distribute(updated("a", v, v+1))
		}
	}
	fanouttest.AnObserverThatPanics(t, newImpatient,
		fanouttest.ObserverTest{Kind: observer.Chunk, Trigger: manyUpdates},
		fanouttest.ObserverTest{Kind: observer.Folded, Trigger: manyUpdates})
}

func TestAnObserverThatPanicsInStop(t *testing.T) {
	fanouttest.AnObserverThatPanicsInStop(t, newFanout)
}
