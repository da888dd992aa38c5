// Benchmarks of memory: of the store, and of the events that wait for a stalled handler. And a
// benchmark of an index that is added late.

package main

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

// BenchmarkLateIndex measures a call of AddIndexers on an informer with 100,000 pods, and the first
// call of ByIndex. The second call is included because a store could put off the work until then.
func BenchmarkLateIndex(b *testing.B) {
	const index = "app"
	eachInformer(b, "objects=100000", func(b *testing.B, informer newInformer) {
		objects := largeStore()
		all := makeVersion(objects, 0)
		loop(b, func() (measured, check func()) {
			w := newWatcher(b, informer, newSource(all), []*tally{})
			stop := w.run(b)
			var pods []any
			var addErr, indexErr error
			measured = func() {
				addErr = w.AddIndexers(cache.Indexers{index: func(obj any) ([]string, error) {
					return []string{obj.(*corev1.Pod).Labels["app"]}, nil
				}})
				pods, indexErr = w.GetIndexer().ByIndex(index, all[0].Labels["app"])
			}
			check = func() {
				must.NoError(b, addErr)
				must.NoError(b, indexErr)
				if got, want := len(pods), objects/apps; got != want {
					b.Errorf("ByIndex() returned %d pods, want %d", got, want)
				}
				if got := len(w.GetIndexer().ListIndexFuncValues(index)); got != apps {
					b.Errorf("the index has %d values, want %d", got, apps)
				}
				stop()
			}
			return measured, check
		})
	})
}

// BenchmarkMemory reports by how much the heap grows with an informer of 100,000 pods, divided by
// the number of pods. The pods and the source exist before, so they do not count. The store counts:
// its keys, its maps, and its index by namespace. The reflector, the queue and the processor count,
// too. There is no handler, and no event waits. So these parts have only the little memory that
// they have without pods, and the buffer of the first list, if one is left.
func BenchmarkMemory(b *testing.B) {
	eachInformer(b, "objects=100000", func(b *testing.B, informer newInformer) {
		objects := largeStore()
		all := makeVersion(objects, 0)
		var total int
		for b.Loop() {
			s := newSource(all)
			before := usage.Heap()
			w := newWatcher(b, informer, s, []*tally{})
			stop := w.run(b)
			for i := range namespaces { // a store may make its index at the first read
				must.NoError(b, w.checkNamespace(namespace(i), objects/namespaces))
			}
			total += usage.Heap() - before
			stop()
			runtime.KeepAlive(s)
		}
		b.ReportMetric(float64(total)/float64(b.N*objects), "B/pod")
		runtime.KeepAlive(all)
	})
}

// BenchmarkStalled blocks the only handler at its first update. Then it sends b.N updates of 1,000
// pods, each with a pod of its own, as if a watch had decoded it, and waits until the store has the
// last one. It reports by how much the heap has grown after a garbage collection. The store has as
// many pods as before, so the rest waits for the handler.
func BenchmarkStalled(b *testing.B) {
	eachInformer(b, "handlers=1/objects=1000", func(b *testing.B, informer newInformer) {
		const objects = 1000
		size := usage.Heap()
		all := makePods(objects)
		size = (usage.Heap() - size) / (versions * objects)

		s := newSource(all[0])
		handler := &stalledHandler{entered: make(chan struct{}, 1), wake: make(chan struct{})}
		w := newWatcher(b, informer, s, []*stalledHandler{handler})
		w.run(b)
		b.Cleanup(func() { close(handler.wake) }) // it runs before the informer stops, which waits for the handler
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

// A stalledHandler is a handler that does not return from its first update until wake is closed.
type stalledHandler struct {
	entered chan struct{} // gets an element at the first update
	wake    chan struct{}
}

func (h *stalledHandler) OnUpdate(_, _ any) {
	select {
	case h.entered <- struct{}{}:
	default:
	}
	<-h.wake
}

func (h *stalledHandler) OnAdd(any, bool) {}
func (h *stalledHandler) OnDelete(any)    {}
