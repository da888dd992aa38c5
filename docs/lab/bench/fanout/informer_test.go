// The two informers, and how one of them is brought to run.

package fanout

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/scripts/harness/must"
)

func TestMain(m *testing.M) {
	serveClock()
	goleak.VerifyTestMain(m)
}

// newInformer makes an informer, with the parameters of client-go.
type newInformer func(
	cache.ListerWatcher, apiruntime.Object, cache.SharedIndexInformerOptions,
) cache.SharedIndexInformer

// informers are what is compared. They take turns: the program that runs the
// benchmarks lets the other begin in every other round.
var informers = []struct {
	name string
	new  newInformer
}{
	{"client-go", cache.NewSharedIndexInformerWithOptions},
	{"ours", func(
		lw cache.ListerWatcher, example apiruntime.Object, options cache.SharedIndexInformerOptions,
	) cache.SharedIndexInformer {
		return informer.New(lw, example, options)
	}},
}

// each runs a benchmark once for each informer.
func each(b *testing.B, name string, run func(*testing.B, newInformer)) {
	for _, i := range informers {
		b.Run(name+"/informer="+i.name, func(b *testing.B) {
			b.ReportAllocs()
			run(b, i.new)
		})
	}
}

// loop is a b.Loop whose clock runs in measured alone. What was made before is not
// collected meanwhile.
func loop(b *testing.B, prepare func() (measured, check func())) {
	for b.Loop() {
		b.StopTimer()
		measured, check := prepare()
		runtime.GC()
		b.StartTimer()
		measured()
		b.StopTimer()
		check()
		b.StartTimer()
	}
}

// deadline is for events that never arrive: none of the benchmarks comes close.
const deadline = 3 * time.Minute

// A watcher is an informer on a source, and the registrations of its handlers.
type watcher struct {
	cache.SharedIndexInformer
	registrations []cache.ResourceEventHandlerRegistration
}

// newWatcher makes an informer of pods as the factories of client-go make it,
// with the index by namespace, and gives it the handlers.
func newWatcher[H cache.ResourceEventHandler](
	tb testing.TB, newInformer newInformer, s *source, handlers []H,
) *watcher {
	tb.Helper()
	w := &watcher{SharedIndexInformer: newInformer(s, &corev1.Pod{}, cache.SharedIndexInformerOptions{
		Indexers: cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc},
	})}
	addHandlers(tb, w, handlers)
	return w
}

// addHandlers gives more handlers to an informer, whether or not it runs.
func addHandlers[H cache.ResourceEventHandler](tb testing.TB, w *watcher, handlers []H) {
	tb.Helper()
	for _, handler := range handlers {
		registration, err := w.AddEventHandler(handler)
		must.Do(tb, err)
		w.registrations = append(w.registrations, registration)
	}
}

// run starts the informer, and returns when the store has the first list and
// every handler has returned from all of it. The function that it returns stops
// the informer.
func (w *watcher) run(tb testing.TB) (stop func()) {
	tb.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { w.RunWithContext(ctx) })
	stop = sync.OnceFunc(func() { cancel(); running.Wait() })
	tb.Cleanup(stop)
	await(tb, w.HasSyncedChecker().Done(), time.After(deadline), "the informer has synced")
	w.awaitHandlers(tb)
	return stop
}

// awaitHandlers returns when every handler has synced.
func (w *watcher) awaitHandlers(tb testing.TB) {
	tb.Helper()
	timeout := time.After(deadline)
	for i, registration := range w.registrations {
		await(tb, registration.HasSyncedChecker().Done(), timeout, fmt.Sprintf("handler %d has synced", i))
	}
}

// inNamespace lists a namespace, and fails unless it has so many pods. A list is
// the reader's own, to change it as it likes: inNamespace takes the first pod
// out, and fails if somebody else did that in the same list.
func (w *watcher) inNamespace(namespace string, want int) error {
	pods, err := w.GetIndexer().ByIndex(cache.NamespaceIndex, namespace)
	if err != nil {
		return err
	}
	if len(pods) != want {
		return fmt.Errorf("a list of %s has %d pods, want %d", namespace, len(pods), want)
	}
	if pods[0] == nil {
		return fmt.Errorf("a list of %s was given to two readers", namespace)
	}
	pods[0] = nil
	return nil
}

// await waits for a channel; when the deadline comes first, the benchmark fails.
func await[T any](tb testing.TB, channel <-chan T, timeout <-chan time.Time, what string) {
	tb.Helper()
	select {
	case <-channel:
	case <-timeout:
		tb.Fatalf("waited %v, and still not: %s", deadline, what)
	}
}
