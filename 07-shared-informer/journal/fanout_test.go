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

func TestFanout(t *testing.T) {
	fanouttest.Run(t, newFanout, map[string]string{
		"WhatWasReadLastIsGarbage": "the journal drops events in chunks, and keeps the chunk that is not full",
	})
}

func TestTheEndOfTheInitialListIsNotCounted(t *testing.T) {
	fanouttest.TheEndOfTheInitialListIsNotCounted(t, newImpatient)
}

// The journal has events of its own: it begins a chunk, and it folds for a handler that is busy.
func TestAnObserverThatPanics(t *testing.T) {
	manyUpdates := func(p *processor.Processor, _ *processor.Registration) {
		for v := range 2 * chunkSize {
			p.Distribute(updated("a", v, v+1))
		}
	}
	fanouttest.AnObserverThatPanics(t, newImpatient,
		fanouttest.ObserverTest{Event: ChunkStarted{}, Trigger: manyUpdates},
		fanouttest.ObserverTest{Event: Folded{}, Trigger: manyUpdates})
}
