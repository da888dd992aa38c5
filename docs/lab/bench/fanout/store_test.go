// What the store costs: its memory, and an index that is added late.

package fanout

import (
	"runtime"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/usage"
)

// BenchmarkLateIndex measures AddIndexers, with an index by a label, on an
// informer that has 100,000 pods, and the first question to that index: it does
// not help anybody to put the work off until then.
func BenchmarkLateIndex(b *testing.B) {
	const index = "app"
	each(b, "objects=100000", func(b *testing.B, informer newInformer) {
		objects := many()
		all := makeVersion(objects, 0)
		loop(b, func() (measured, check func()) {
			w := newWatcher(b, informer, newSource(all), []*tally{})
			stop := w.run(b)
			var pods []any
			var err, indexErr error
			return func() {
					err = w.AddIndexers(cache.Indexers{index: func(obj any) ([]string, error) {
						return []string{obj.(*corev1.Pod).Labels["app"]}, nil
					}})
					pods, indexErr = w.GetIndexer().ByIndex(index, all[0].Labels["app"])
				}, func() {
					values := len(w.GetIndexer().ListIndexFuncValues(index))
					if err != nil || indexErr != nil || len(pods) != objects/apps || values != apps {
						b.Fatalf("the index has %d pods and %d values, want %d and %d; errors %v, %v",
							len(pods), values, objects/apps, apps, err, indexErr)
					}
					stop()
				}
		})
	})
}

// BenchmarkMemory reports by how much the heap grows with an informer of 100,000
// pods, for each pod, and without it: the pods are there before, and so is
// the source. What is left is the store: its keys, its maps, and its index by
// namespace. The reflector, the queue and the processor are in it too, with
// what they keep once the first list is through; there is no handler, and nothing
// waits, so that is the little that an informer without pods has, and what
// a buffer of the list's size leaves behind, if there is one.
func BenchmarkMemory(b *testing.B) {
	each(b, "objects=100000", func(b *testing.B, informer newInformer) {
		objects := many()
		all := makeVersion(objects, 0)
		var total int
		for b.Loop() {
			s := newSource(all)
			before := usage.Heap()
			w := newWatcher(b, informer, s, []*tally{})
			stop := w.run(b)
			for i := range namespaces { // if the index is made when it is needed, that is now
				must.Do(b, w.inNamespace(namespace(i), objects/namespaces))
			}
			total += usage.Heap() - before
			stop()
			runtime.KeepAlive(s)
		}
		b.ReportMetric(float64(total)/float64(b.N*objects), "B/pod")
		runtime.KeepAlive(all)
	})
}
