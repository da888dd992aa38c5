// The informers, and the helpers that run one of them.

package main

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
	"example.com/informer/07-shared-informer/parttwo"
	"example.com/informer/scripts/harness/must"
)

func TestMain(m *testing.M) {
	serveClock()
	goleak.VerifyTestMain(m)
}

// newInformer is a constructor of an informer, with the parameters of client-go's.
type newInformer func(
	cache.ListerWatcher, apiruntime.Object, cache.SharedIndexInformerOptions,
) cache.SharedIndexInformer

// informers are those to compare: client-go's, and ours with the parts of Part I and of Part II.
var informers = []struct {
	name string
	new  newInformer
}{
	{"client-go", cache.NewSharedIndexInformerWithOptions},
	{"part1", informer.Default.New},
	{"part2", parttwo.Parts.New},
}

// eachInformer runs a benchmark once for each informer.
func eachInformer(b *testing.B, name string, run func(*testing.B, newInformer)) {
	for _, i := range informers {
		b.Run(name+"/informer="+i.name, func(b *testing.B) {
			b.ReportAllocs()
			run(b, i.new)
		})
	}
}

// loop is a b.Loop that measures only the function measured. It collects the garbage of prepare
// before that.
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

// deadline ends a benchmark whose events never arrive. A benchmark that works needs much less.
const deadline = 3 * time.Minute

// A watcher is an informer on a source, and the registrations of its handlers.
type watcher struct {
	cache.SharedIndexInformer
	registrations []cache.ResourceEventHandlerRegistration
}

// newWatcher makes an informer of pods with the index by namespace, as client-go's factories do,
// and adds the handlers.
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

// addHandlers adds handlers to an informer, which may already run.
func addHandlers[H cache.ResourceEventHandler](tb testing.TB, w *watcher, handlers []H) {
	tb.Helper()
	for _, handler := range handlers {
		registration, err := w.AddEventHandler(handler)
		must.NoError(tb, err)
		w.registrations = append(w.registrations, registration)
	}
}

// run starts the informer, and returns when the store has the first list and every handler has
// synced. The returned function stops the informer.
func (w *watcher) run(tb testing.TB) (stop func()) {
	tb.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { w.RunWithContext(ctx) })
	stop = sync.OnceFunc(func() {
		cancel()
		running.Wait()
	})
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

// checkNamespace lists the pods of a namespace, and fails unless there are as many as wanted. A
// list belongs to its reader, who may change it. So checkNamespace removes the first pod from the
// list, and fails if another reader has removed it from the same list.
func (w *watcher) checkNamespace(namespace string, want int) error {
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

// await waits for a channel. If the timeout comes first, the benchmark fails, and says which
// condition has not come true.
func await[T any](tb testing.TB, channel <-chan T, timeout <-chan time.Time, condition string) {
	tb.Helper()
	select {
	case <-channel:
	case <-timeout:
		tb.Fatalf("waited %v, and still not: %s", deadline, condition)
	}
}
