// How long it takes until everything is deleted.

package fanout

import (
	"runtime"
	"testing"
)

// BenchmarkDeletes deletes 100,000 pods one by one, over the watch, from the
// first until the handler was called for the last. They come in the batches of
// a workload, for the reason that is given there.
func BenchmarkDeletes(b *testing.B) {
	each(b, "handlers=1/objects=100000", func(b *testing.B, informer newInformer) {
		objects := many()
		before, deleted := makeVersion(objects, 0), makeVersion(objects, 1)
		for b.Loop() {
			b.StopTimer()
			work := newWorkload(1, objects)
			s := newSource(before)
			w := newWatcher(b, informer, s, work.counters)
			stop := w.run(b)
			runtime.GC() // nothing of the first list is to be collected while the clock runs
			b.StartTimer()
			work.run(b, func(k int) { s.remove(deleted[k]) })
			b.StopTimer()
			stop()
			work.check(b)
			if left := len(w.GetStore().ListKeys()); left > 0 {
				b.Errorf("%d pods are left in the store", left)
			}
			b.StartTimer()
		}
	})
}
