// How a processor stops.

package fanouttest

import (
	"testing"
	"testing/synctest"

	"example.com/informer/06-processor/processor"
)

func StopWaitsForCallsAndDropsTheRest(t *testing.T, newFanout func() processor.Fanout) {
	inFakeTime(t, newFanout, func(t *testing.T, fanout processor.Fanout) {
		p := processor.New(fanout)
		stuck, calls := blocked()
		r := add(t, p, stuck, processor.Options{})
		p.Start()
		for v := range 10 {
			p.Distribute(Updated("a", v, v+1))
		}
		synctest.Wait()
		stopped := make(chan struct{})
		go func() {
			p.Stop()
			close(stopped)
		}()
		synctest.Wait()
		select {
		case <-stopped:
			t.Error("Stop() has returned while a call is under way")
		default:
		}
		<-calls
		<-stopped
		<-r.ShutdownChan()
		p.Distribute(Added("b", 2)) // reaches nobody
		_, err := p.Add(stuck, processor.Options{})
		if err == nil {
			t.Error("Add() = nil after Stop, want an error")
		}
	})
}

func StoppedBeforeTheStart(t *testing.T, newFanout func() processor.Fanout) {
	inFakeTime(t, newFanout, func(t *testing.T, fanout processor.Fanout) {
		p := processor.New(fanout)
		r := add(t, p, newRecorder(), processor.Options{})
		p.Stop()
		p.Start()
		<-r.ShutdownChan()
	})
}
