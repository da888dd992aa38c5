// What every Fanout has to do, done by the journal.

package journal

import (
	"testing"

	"go.uber.org/goleak"

	"example.com/informer/06-processor/processor"
	"example.com/informer/06-processor/processor/fanouttest"
)

type notification = processor.Notification

var (
	pod, version               = fanouttest.Pod, fanouttest.Version
	added, updated, deleted    = fanouttest.Added, fanouttest.Updated, fanouttest.Deleted
	another, text, texts, read = fanouttest.Another, fanouttest.Text, fanouttest.Texts, fanouttest.Read
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newFanout() processor.Fanout { return New() }

// newImpatient returns a journal that folds soon.
func newImpatient() processor.Fanout {
	fanout := New()
	fanout.SetPatience(1)
	return fanout
}

func TestEveryListenerGetsEverythingInOrder(t *testing.T) {
	fanouttest.EveryListenerGetsEverythingInOrder(t, newFanout)
}

func TestTheEndOfTheInitialListIsNotCounted(t *testing.T) {
	fanouttest.TheEndOfTheInitialListIsNotCounted(t, newImpatient)
}

func TestAListenerGetsNothingOfThePast(t *testing.T) {
	fanouttest.AListenerGetsNothingOfThePast(t, newFanout)
}

func TestNextWaits(t *testing.T) {
	fanouttest.NextWaits(t, newFanout)
}

func TestCloseEndsNextAndDropsWhatWaits(t *testing.T) {
	fanouttest.CloseEndsNextAndDropsWhatWaits(t, newFanout)
}

func TestListenersComeAndGo(t *testing.T) {
	fanouttest.ListenersComeAndGo(t, newFanout)
}

func TestWhatAllHaveReadIsGarbageThoughAllIsQuiet(t *testing.T) {
	fanouttest.WhatAllHaveReadIsGarbageThoughAllIsQuiet(t, newFanout)
}

func TestWhatOnlyAClosedListenerHadToReadIsGarbage(t *testing.T) {
	fanouttest.WhatOnlyAClosedListenerHadToReadIsGarbage(t, newFanout)
}

func TestWhatAClosedListenerHasReadIsGarbage(t *testing.T) {
	fanouttest.WhatAClosedListenerHasReadIsGarbage(t, newFanout)
}

func TestNothingIsKeptForNobody(t *testing.T) {
	fanouttest.NothingIsKeptForNobody(t, newFanout)
}

func TestWhatEveryCursorHasPassedIsGarbage(t *testing.T) {
	fanouttest.WhatEveryListenerHasReadIsGarbage(t, newFanout)
}
