// How much memory waits for a handler that does not return.

package fanout

import (
	"runtime"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"example.com/informer/scripts/harness/usage"
)

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
