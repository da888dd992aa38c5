// Tests of handlers that join and leave.

package informer_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/record"
)

// version returns the number n as a resource version.
func version(n int) string { return strconv.Itoa(n) }

// The informer is still storing its first list when an object of this list is deleted and created
// again. The second add of the object is not initial, and comes after all adds that are.
func TestTheInitialListComesFirst(t *testing.T) {
	for name, newInformer := range implementations {
		if name == "deltafifo" {
			continue // it groups the changes of a
		}
		inFakeTime(t, func(t *testing.T) {
			release := make(chan struct{})
			slow := func(any) ([]string, error) {
				<-release
				return nil, nil
			}
			r := newRig(newInformer, cache.SharedIndexInformerOptions{Indexers: cache.Indexers{"slow": slow}},
				configMap("a", "1"), configMap("b", "1"), configMap("c", "1"))
			handler := r.recorder(t)
			go func() {
				w := r.server.NextWatch()
				w.Delete(configMap("a", "2"))
				w.Add(configMap("a", "3"))
				w.Add(configMap("d", "4"))
			}()
			r.run(t)
			handler.Want(t) // the store has no object yet
			close(release)
			calls := handler.Take()
			slices.Sort(calls[:min(3, len(calls))]) // the list has no order
			want := []string{
				"OnAdd a 1 first", "OnAdd b 1 first", "OnAdd c 1 first", "OnDelete a 2", "OnAdd a 3", "OnAdd d 4",
			}
			if !slices.Equal(calls, want) {
				t.Errorf("%s: got\n  %q\nwant\n  %q", name, calls, want)
			}
		})
	}
}

// ShutDownEventHandler "blocks until it has fully stopped processing events"; RemoveEventHandler
// does not.
func TestShutDownWaitsForTheCallThatIsUnderWay(t *testing.T) {
	forEach(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"))
		var calls record.Lines
		registration := r.handle(t, cache.ResourceEventHandlerFuncs{AddFunc: func(any) {
			time.Sleep(time.Minute)
			calls.Add("returned")
		}})
		r.run(t)
		start := time.Now()
		must.NoError(t, r.RemoveEventHandler(registration))
		if took := time.Since(start); took != 0 {
			t.Errorf("RemoveEventHandler took %v, want 0", took)
		}
		must.NoError(t, cache.ShutDownEventHandler(r, registration))
		if took := time.Since(start); took != time.Minute {
			t.Errorf("ShutDownEventHandler returned after %v, want %v", took, time.Minute)
		}
		calls.Want(t, "returned")
	})
}

// ShutDownEventHandler does not wait for what will never come.
func TestShutDownOfAHandlerThatIsGone(t *testing.T) {
	forEach(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"))
		shutDown := func(handler *recorder) {
			t.Helper()
			must.NoError(t, cache.ShutDownEventHandler(r, handler.ResourceEventHandlerRegistration))
			must.NoError(t, r.RemoveEventHandler(handler.ResourceEventHandlerRegistration))
		}
		early, twice, last := r.recorder(t), r.recorder(t), r.recorder(t)
		shutDown(early) // before the start
		r.run(t)
		early.Want(t)
		shutDown(twice)
		shutDown(twice)
		r.stop()
		shutDown(last)
	})
}
