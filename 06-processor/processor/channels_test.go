// The channels, as a Fanout and with a processor.

package processor_test

import (
	"testing"

	"go.uber.org/goleak"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/06-processor/processor"
	"example.com/informer/06-processor/processor/fanouttest"
	"example.com/informer/scripts/harness/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestTheChannelsAreTheDefault(t *testing.T) {
	p := processor.New(nil)
	p.Start()
	defer p.Stop()
	called := make(chan struct{})
	_, err := p.Add(cache.ResourceEventHandlerFuncs{AddFunc: func(any) { close(called) }}, processor.Options{})
	must.NoError(t, err)
	p.Distribute(fanouttest.Added("a", 1))
	<-called
}

func TestEveryListenerGetsEverythingInOrder(t *testing.T) {
	fanouttest.EveryListenerGetsEverythingInOrder(t, processor.NewChannels)
}

func TestTheEndOfTheInitialListIsNotCounted(t *testing.T) {
	fanouttest.TheEndOfTheInitialListIsNotCounted(t, processor.NewChannels)
}

func TestAListenerGetsNothingOfThePast(t *testing.T) {
	fanouttest.AListenerGetsNothingOfThePast(t, processor.NewChannels)
}

func TestNextWaits(t *testing.T) {
	fanouttest.NextWaits(t, processor.NewChannels)
}

func TestCloseEndsNextAndDropsWhatWaits(t *testing.T) {
	fanouttest.CloseEndsNextAndDropsWhatWaits(t, processor.NewChannels)
}

func TestListenersComeAndGo(t *testing.T) {
	fanouttest.ListenersComeAndGo(t, processor.NewChannels)
}

func TestWhatAllHaveReadIsGarbageThoughAllIsQuiet(t *testing.T) {
	fanouttest.WhatAllHaveReadIsGarbageThoughAllIsQuiet(t, processor.NewChannels)
}

func TestWhatOnlyAClosedListenerHadToReadIsGarbage(t *testing.T) {
	fanouttest.WhatOnlyAClosedListenerHadToReadIsGarbage(t, processor.NewChannels)
}

func TestWhatAClosedListenerHasReadIsGarbage(t *testing.T) {
	fanouttest.WhatAClosedListenerHasReadIsGarbage(t, processor.NewChannels)
}

func TestNothingIsKeptForNobody(t *testing.T) {
	fanouttest.NothingIsKeptForNobody(t, processor.NewChannels)
}

func TestWhatEveryListenerHasReadIsGarbage(t *testing.T) {
	fanouttest.WhatEveryListenerHasReadIsGarbage(t, processor.NewChannels)
}

func TestWhatWasReadLastIsGarbage(t *testing.T) {
	fanouttest.WhatWasReadLastIsGarbage(t, processor.NewChannels)
}

func TestAllHandlersAreCalled(t *testing.T) {
	fanouttest.AllHandlersAreCalled(t, processor.NewChannels)
}

func TestASlowHandlerHoldsUpNobody(t *testing.T) {
	fanouttest.ASlowHandlerHoldsUpNobody(t, processor.NewChannels)
}

func TestHasSyncedWhenTheHandlerHasReturned(t *testing.T) {
	fanouttest.HasSyncedWhenTheHandlerHasReturned(t, processor.NewChannels)
}

func TestAnEmptyListSyncs(t *testing.T) {
	fanouttest.AnEmptyListSyncs(t, processor.NewChannels)
}

func TestResyncsAreForHandlersThatAreDue(t *testing.T) {
	fanouttest.ResyncsAreForHandlersThatAreDue(t, processor.NewChannels)
}

func TestResyncsAreForNewcomersToo(t *testing.T) {
	fanouttest.ResyncsAreForNewcomersToo(t, processor.NewChannels)
}

func TestABusyHandlerSkipsTheResyncsOfOthers(t *testing.T) {
	fanouttest.ABusyHandlerSkipsTheResyncsOfOthers(t, processor.NewChannels)
}

func TestARemovedHandlerIsNotCalled(t *testing.T) {
	fanouttest.ARemovedHandlerIsNotCalled(t, processor.NewChannels)
}

func TestAHandlerMayRemoveItself(t *testing.T) {
	fanouttest.AHandlerMayRemoveItself(t, processor.NewChannels)
}

func TestRemovedBeforeTheStart(t *testing.T) {
	fanouttest.RemovedBeforeTheStart(t, processor.NewChannels)
}

func TestAPanicIsReportedAndTheNextCallIsMadeASecondLater(t *testing.T) {
	fanouttest.APanicIsReportedAndTheNextCallIsMadeASecondLater(t, processor.NewChannels)
}

func TestThePauseAfterAPanicEndsWithTheRegistration(t *testing.T) {
	fanouttest.ThePauseAfterAPanicEndsWithTheRegistration(t, processor.NewChannels)
}

func TestAtMostOneCallBeginsAfterRemove(t *testing.T) {
	fanouttest.AtMostOneCallBeginsAfterRemove(t, processor.NewChannels)
}

func TestAHandlerThatEndsItsGoroutineLeaves(t *testing.T) {
	fanouttest.AHandlerThatEndsItsGoroutineLeaves(t, processor.NewChannels)
}

func TestStopWaitsForCallsAndDropsTheRest(t *testing.T) {
	fanouttest.StopWaitsForCallsAndDropsTheRest(t, processor.NewChannels)
}

func TestStopWaitsForHandlersThatWereRemoved(t *testing.T) {
	fanouttest.StopWaitsForHandlersThatWereRemoved(t, processor.NewChannels)
}

func TestStoppedBeforeTheStart(t *testing.T) {
	fanouttest.StoppedBeforeTheStart(t, processor.NewChannels)
}

func TestAHandlerReadsWhatIsPresentInItsOwnGoroutine(t *testing.T) {
	fanouttest.AHandlerReadsWhatIsPresentInItsOwnGoroutine(t, processor.NewChannels)
}

func TestAnObserverThatPanics(t *testing.T) {
	fanouttest.AnObserverThatPanics(t, processor.NewChannels)
}

func TestAnObserverThatPanicsInStop(t *testing.T) {
	fanouttest.AnObserverThatPanicsInStop(t, processor.NewChannels)
}
