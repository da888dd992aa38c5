package processor

import (
	"fmt"
	"testing"
	"testing/synctest"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/03-reflector/observer"
)

// The panic reaches the caller, who may recover. No lock is left locked, and Stop works as usual.
func TestAnObserverThatPanics(t *testing.T) {
	for kind, trigger := range map[observer.Kind]func(p *Processor, log *Log, r *Registration){
		observer.Joined: func(p *Processor, _ *Log, _ *Registration) {
			_, _ = p.Add(cache.ResourceEventHandlerFuncs{}, Options{})
		},
		observer.Appended: func(p *Processor, _ *Log, _ *Registration) { p.Distribute(added("b", 1)) },
		observer.Chunk: func(p *Processor, _ *Log, _ *Registration) {
			for v := range 2 * chunkSize {
				p.Distribute(updated("a", v, v+1))
			}
		},
		observer.Folded: func(p *Processor, log *Log, _ *Registration) {
			log.SetPatience(0)
			for v := range 2 * chunkSize {
				p.Distribute(updated("a", v, v+1))
			}
		},
		observer.Removed: func(p *Processor, _ *Log, r *Registration) { p.Remove(r) },
	} {
		t.Run(string(kind), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log := NewLog()
				p := New(log)
				armed := false
				observe := observer.Func(func(e observer.Event) {
					if armed && e.Kind == kind {
						panic(fmt.Sprint("no ", e.Kind))
					}
				})
				p.SetObserver(observe)
				busy := make(chan struct{})
				r := add(t, p, cache.ResourceEventHandlerFuncs{AddFunc: func(any) { <-busy }}, Options{})
				p.Start()
				p.Distribute(added("a", 0))
				synctest.Wait()

				armed = true
				panicked := func() (got any) {
					defer func() { got = recover() }()
					trigger(p, log, r)
					return nil
				}()
				if want := fmt.Sprint("no ", kind); panicked != want {
					t.Errorf("the caller recovered %v, want %q", panicked, want)
				}
				armed = false
				p.Distribute(added("c", 1)) // would not return if a lock were left locked
				close(busy)
				p.Stop()
				<-r.ShutdownChan()
			})
		})
	}
}

// Stop ends all handlers, even those after the panic, and waits for them.
func TestAnObserverThatPanicsInStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(NewLog())
		p.SetObserver(observer.Func(func(e observer.Event) {
			if e.Kind == observer.Removed {
				panic("no")
			}
		}))
		registrations := []*Registration{
			add(t, p, cache.ResourceEventHandlerFuncs{}, Options{}),
			add(t, p, cache.ResourceEventHandlerFuncs{}, Options{}),
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
