// The tests of observers that panic.

package fanouttest

import (
	"fmt"
	"testing"
	"testing/synctest"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/03-reflector/observer"
	"example.com/informer/06-processor/processor"
)

// An ObserverTest triggers an event of one type.
type ObserverTest struct {
	Event   any // an event of this type
	Trigger func(*processor.Processor, *processor.Registration)
}

// AnObserverThatPanics checks that the panic reaches the caller, who may recover. No lock is left
// locked, and Stop works as usual. A Fanout with events of its own adds tests of these.
func AnObserverThatPanics(t *testing.T, newFanout func() processor.Fanout, own ...ObserverTest) {
	for _, test := range append(own,
		ObserverTest{processor.Joined{}, func(p *processor.Processor, _ *processor.Registration) {
			_, _ = p.Add(cache.ResourceEventHandlerFuncs{}, processor.Options{})
		}},
		ObserverTest{processor.Appended{}, func(p *processor.Processor, _ *processor.Registration) {
			p.Distribute(Added("b", 1))
		}},
		ObserverTest{processor.Removed{}, func(p *processor.Processor, r *processor.Registration) { p.Remove(r) }},
	) {
		want := fmt.Sprintf("no %T", test.Event)
		t.Run(fmt.Sprintf("%T", test.Event), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := processor.New(newFanout())
				armed := false
				p.SetObserver(observer.Func(func(event any) {
					if got := fmt.Sprintf("no %T", event); armed && got == want {
						panic(got)
					}
				}))
				busy := make(chan struct{})
				r := add(t, p, cache.ResourceEventHandlerFuncs{AddFunc: func(any) { <-busy }}, processor.Options{})
				p.Start()
				p.Distribute(Added("a", 0))
				synctest.Wait()

				armed = true
				panicked := func() (got any) {
					defer func() { got = recover() }()
					test.Trigger(p, r)
					return nil
				}()
				if panicked != want {
					t.Errorf("the caller recovered %v, want %q", panicked, want)
				}
				armed = false
				p.Distribute(Added("c", 1)) // would not return if a lock were left locked
				close(busy)
				p.Stop()
				<-r.ShutdownChan()
			})
		})
	}
}

// Stop ends all handlers, even those after the panic, and waits for them.
func anObserverThatPanicsInStop(t *testing.T, newFanout func() processor.Fanout) {
	inFakeTime(t, newFanout, func(t *testing.T, fanout processor.Fanout) {
		p := processor.New(fanout)
		p.SetObserver(observer.Func(func(event any) {
			if _, ok := event.(processor.Removed); ok {
				panic("no")
			}
		}))
		registrations := []*processor.Registration{
			add(t, p, cache.ResourceEventHandlerFuncs{}, processor.Options{}),
			add(t, p, cache.ResourceEventHandlerFuncs{}, processor.Options{}),
		}
		p.Start()
		panicked := func() (got any) {
			defer func() { got = recover() }()
			p.Stop()
			return nil
		}()
		if panicked == nil {
			t.Error("Stop() did not panic, want the panic of the observer")
		}
		for i, r := range registrations {
			select {
			case <-r.ShutdownChan():
			default:
				t.Errorf("ShutdownChan of handler %d is open after Stop, want that it is closed", i+1)
			}
		}
		p.Stop() // would not return if a lock were left locked
	})
}
