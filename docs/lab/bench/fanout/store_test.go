// What the store costs: its memory, and an index that is added late; and how much
// memory waits for a handler that does not return.

package fanout

import (
	"runtime"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
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

// BenchmarkStalled blocks the only handler at its first update, sends b.N
// updates of 1,000 pods, every one a pod of its own as a watch decodes it, and
// waits until the store has the last. Then it reports by how much the heap has
// grown, garbage collected: the store holds as many pods as before, so the rest
// is kept for the handler.
func BenchmarkStalled(b *testing.B) {
	each(b, "handlers=1/objects=1000", func(b *testing.B, informer newInformer) {
		const objects = 1000
		size := usage.Heap()
		all := makePods(objects)
		size = (usage.Heap() - size) / (versions * objects)

		s := newSource(all[0])
		handler := &stalledHandler{entered: make(chan struct{}, 1), wake: make(chan struct{})}
		w := newWatcher(b, informer, s, []*stalledHandler{handler})
		w.run(b)
		b.Cleanup(func() { close(handler.wake) }) // first of all: only then the informer can end
		s.send(watch.Modified, all.update(0))
		timeout := time.After(deadline)
		await(b, handler.entered, timeout, "the handler got the first update")
		before := usage.Heap()

		version := versions * objects
		for k := range b.N {
			version++
			s.send(watch.Modified, newPod(k%objects, version))
		}
		last := newPod((b.N-1)%objects, version)
		for stored := ""; stored != last.ResourceVersion; stored = w.version(b, last) {
			select {
			case <-timeout:
				b.Fatalf("waited %v, and the last update has not reached the store", deadline)
			default:
				runtime.Gosched()
			}
		}
		b.ReportMetric(float64(max(usage.Heap()-before, 1)), "held-B")
		b.ReportMetric(float64(size), "pod-B")
		runtime.KeepAlive(all)
	})
}

// version returns the resourceVersion of a pod in the store.
func (w *watcher) version(tb testing.TB, pod metav1.Object) string {
	obj, found, err := w.GetStore().Get(pod)
	if err != nil || !found {
		tb.Fatalf("%s in the store: found %t, error %v", pod.GetName(), found, err)
	}
	return obj.(metav1.Object).GetResourceVersion()
}

// A stalledHandler is the handler: it returns from its first update when it is woken.
type stalledHandler struct{ entered, wake chan struct{} }

func (h *stalledHandler) OnUpdate(_, _ any) {
	select {
	case h.entered <- struct{}{}:
	default:
	}
	<-h.wake
}

func (h *stalledHandler) OnAdd(any, bool) {}
func (h *stalledHandler) OnDelete(any)    {}
