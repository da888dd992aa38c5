// How a processor stops.

package fanouttest

import (
	"testing"
	"testing/synctest"
	"time"

	"example.com/informer/06-processor/processor"
	"example.com/informer/scripts/harness/must"
)

func stopWaitsForCallsAndDropsTheRest(t *testing.T, newFanout func() processor.Fanout) {
	inFakeTime(t, newFanout, func(t *testing.T, fanout processor.Fanout) {
		before := must.Goroutines()
		p := processor.New(fanout)
		stuck, calls := blocked()
		r := add(t, p, stuck, processor.Options{})
		p.Start()
		for v := range 10 {
			p.Distribute(Updated("a", v, v+1))
		}
		synctest.Wait()
		stopped := stop(p)
		wantBusy(t, stopped)
		<-calls
		<-stopped
		must.NoNewGoroutines(t, before)
		<-r.ShutdownChan()
		p.Distribute(Added("b", 2)) // reaches nobody
		_, err := p.Add(stuck, processor.Options{})
		if err == nil {
			t.Error("Add() = nil after Stop, want an error")
		}
	})
}

// stop calls Stop in another goroutine. The channel is closed when Stop has returned.
func stop(p *processor.Processor) <-chan struct{} {
	stopped := make(chan struct{})
	go func() {
		p.Stop()
		close(stopped)
	}()
	return stopped
}

// wantBusy checks that no Stop returns, however long it takes.
func wantBusy(t *testing.T, stops ...<-chan struct{}) {
	t.Helper()
	time.Sleep(time.Hour)
	for i, stopped := range stops {
		select {
		case <-stopped:
			t.Errorf("Stop() number %d has returned while a call is under way", i+1)
		default:
		}
	}
}

// Remove does not wait for a call that is under way. Stop does, even if its handler is removed, and
// even if it is the second Stop.
func stopWaitsForHandlersThatWereRemoved(t *testing.T, newFanout func() processor.Fanout) {
	inFakeTime(t, newFanout, func(t *testing.T, fanout processor.Fanout) {
		before := must.Goroutines()
		p := processor.New(fanout)
		busy, calls := blocked()
		r := add(t, p, busy, processor.Options{})
		p.Start()
		p.Distribute(Added("a", 1))
		synctest.Wait()
		p.Remove(r)
		first, second := stop(p), stop(p)
		wantBusy(t, first, second)
		<-calls
		<-first
		<-second
		must.NoNewGoroutines(t, before)
	})
}

func stoppedBeforeTheStart(t *testing.T, newFanout func() processor.Fanout) {
	inFakeTime(t, newFanout, func(t *testing.T, fanout processor.Fanout) {
		p := processor.New(fanout)
		r := add(t, p, newRecorder(), processor.Options{})
		p.Stop()
		p.Start()
		<-r.ShutdownChan()
	})
}
