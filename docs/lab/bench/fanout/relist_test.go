// How long it takes until a handler knows a second list.

package fanout

import (
	"context"
	"runtime"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// BenchmarkRelist ends the watch, so that the informer has to list again, and
// every pod has changed meanwhile. It measures from the moment when the informer
// gets the list, which is after the pause that both make before they ask for it,
// until the handler has got all updates.
func BenchmarkRelist(b *testing.B) {
	each(b, "handlers=1/objects=100000", func(b *testing.B, informer newInformer) {
		objects := many()
		before, after := makeVersion(objects, 0), makeVersion(objects, 1)
		for b.Loop() {
			b.StopTimer()
			handlers := newTallies(1, objects)
			first, second := newSource(before), newSource(after)
			lists := first.oneByOne()
			w := newWatcher(b, informer, first, handlers)
			stop := w.run(b)
			first.expire()
			runtime.GC() // nothing of this is to be collected while the clock runs
			timeout := time.After(deadline)
			select {
			case lists <- second: // the informer has it now
			case <-timeout:
				b.Fatalf("waited %v, and the informer has not asked for a second list", deadline)
			}
			b.StartTimer()
			await(b, handlers[0].updated, timeout, "the handler got all updates")
			b.StopTimer()
			stop()
			if h := handlers[0]; h.adds != objects || h.updates != objects || h.deletes > 0 {
				b.Errorf("the handler got %d adds, %d updates and %d deletes, want %d, %d and 0",
					h.adds, h.updates, h.deletes, objects, objects)
			}
			if last := after[objects-1]; w.version(b, last) != last.ResourceVersion {
				b.Errorf("the store has not got the second list: %s is at version %s", last.Name, w.version(b, last))
			}
			b.StartTimer()
		}
	})
}

// oneByOne makes the source give out itself for the first list only. Whoever
// asks for another waits for a source from the channel.
func (s *source) oneByOne() chan<- *source {
	lists, asked := make(chan *source), false
	s.WatchFuncWithContext = func(ctx context.Context, _ metav1.ListOptions) (watch.Interface, error) {
		if !asked {
			asked = true
			return s, nil
		}
		select {
		case list := <-lists:
			return list, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return lists
}
