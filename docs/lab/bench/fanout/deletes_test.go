// How long it takes until everything is deleted.

package fanout

import (
	"testing"

	"k8s.io/apimachinery/pkg/watch"
)

// BenchmarkDeletes deletes 100,000 pods one by one, over the watch, from the
// first until the handler was called for the last. They come in the batches of
// a workload, for the reason that is given there.
func BenchmarkDeletes(b *testing.B) {
	each(b, "handlers=1/objects=100000", func(b *testing.B, informer newInformer) {
		objects := many()
		before, deleted := makeVersion(objects, 0), makeVersion(objects, 1)
		loop(b, func() (measured, check func()) {
			work, s := newWorkload(1, objects), newSource(before)
			w := newWatcher(b, informer, s, work.counters)
			stop := w.run(b)
			return func() {
					work.run(b, func(k int) { s.send(watch.Deleted, deleted[k]) })
				}, func() {
					stop()
					work.check(b)
					if left := len(w.GetStore().ListKeys()); left > 0 {
						b.Errorf("%d pods are left in the store", left)
					}
				}
		})
	})
}
