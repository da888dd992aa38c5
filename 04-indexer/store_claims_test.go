// What the page docs/04-indexer-a-store-of-our-own.md says about client-go's
// store and its lock, shown on the pinned version; and about ours beside it.

package main

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	clientgofeatures "k8s.io/client-go/features"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/04-indexer/indexer"
	"example.com/informer/04-indexer/store"
	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
)

// A heldCall is one that an index function stops at some object until it is released.
type heldCall struct {
	indexers      cache.Indexers
	stopped, goOn chan struct{}
	running       sync.WaitGroup
}

func hold(at any) *heldCall {
	h := &heldCall{stopped: make(chan struct{}), goOn: make(chan struct{})}
	h.indexers = cache.Indexers{"app": func(obj any) ([]string, error) {
		if obj == at {
			close(h.stopped)
			<-h.goOn
		}
		return indexer.ByLabel("app")(obj)
	}}
	return h
}

// run makes the call, and returns when it is stopped.
func (h *heldCall) run(call func()) { h.running.Go(call); <-h.stopped }

// release returns when the call has, and all others that ran meanwhile.
func (h *heldCall) release() { close(h.goOn); h.running.Wait() }

// waitsForLock returns when a goroutine waits for a lock, such as
// sync.RWMutex.RLock, in a method.
func waitsForLock(t *testing.T, lock, method string) {
	t.Helper()
	stacks := make([]byte, 1<<20)
	must.Until(t, "a goroutine waits for "+lock+" in "+method, func() bool {
		for stack := range strings.SplitSeq(string(stacks[:runtime.Stack(stacks, true)]), "\n\n") {
			header, calls, _ := strings.Cut(stack, "\n")
			if strings.Contains(header, "["+lock) && strings.Contains(calls, method+"(") {
				return true
			}
		}
		return false
	})
}

// readAndWrite has a reader in client-go's store, and a writer that waits for it.
func readAndWrite(t *testing.T) (index cache.Indexer, reader *heldCall) {
	t.Helper()
	asked := newPod("ns1", "asked", "l1")
	reader = hold(asked)
	index = filled(t, reader.indexers)
	reader.run(func() { index.Index("app", asked) })
	for _, key := range []string{"ns1/pod1", "ns2/pod2"} { // other readers are welcome
		_, exists, _ := index.GetByKey(key)
		expect.That(t, exists, "%s is not there", key)
	}
	reader.running.Go(func() { index.Update(newPod("ns1", "pod1", "l3")) })
	waitsForLock(t, "sync.RWMutex.Lock", "(*threadSafeMap).Update")
	return index, reader
}

func TestAReaderHoldsUpAWriterOfClientGosStore(t *testing.T) {
	index, reader := readAndWrite(t)
	reader.release()
	wantKeys(t, index, "app", "l3", "ns1/pod1")
}

func TestAWaitingWriterHoldsUpTheReadersAfterIt(t *testing.T) {
	index, reader := readAndWrite(t)
	reader.running.Go(func() { index.GetByKey("ns2/pod2") })
	reader.running.Go(func() { index.List() })
	waitsForLock(t, "sync.RWMutex.RLock", "(*threadSafeMap).Get")
	waitsForLock(t, "sync.RWMutex.RLock", "(*threadSafeMap).List")
	reader.release()
}

func TestClientGosStoreIsLockedWhileAnIndexFunctionRuns(t *testing.T) {
	pod := newPod("ns3", "pod3", "l3")
	writer := hold(pod)
	index := filled(t, writer.indexers)
	writer.run(func() { index.Add(pod) })
	writer.running.Go(func() { index.GetByKey("ns1/pod1") })
	waitsForLock(t, "sync.RWMutex.RLock", "(*threadSafeMap).Get")
	writer.release()
}

func TestAnIndexFunctionHoldsUpListsOfOurStoreAndNoGets(t *testing.T) {
	pod := newPod("ns3", "pod3", "l3")
	writer := hold(pod)
	index := store.New(store.Options{Indexers: writer.indexers})
	must.Do(t, index.Add(newPod("ns1", "pod1", "l1")))
	writer.run(func() { index.Add(pod) })
	if _, exists, _ := index.GetByKey("ns1/pod1"); !exists { // it does not wait
		t.Error("ns1/pod1 is not there")
	}
	writer.running.Go(func() { index.List() })
	waitsForLock(t, "sync.Mutex.Lock", "(*Store).Snapshot")
	writer.release()
}

// A reader that comes in the middle of a transaction gets the state after it.
func TestATransactionOfClientGosStoreTakesTheLockOnce(t *testing.T) {
	first := newPod("ns3", "pod3", "l3")
	writer := hold(first)
	index := filled(t, writer.indexers)
	transactions, ok := index.(cache.TransactionStore)
	if !ok {
		t.Fatalf("a %T has no transactions", index)
	}
	writer.run(func() {
		err := transactions.Transaction(cache.Transaction{Type: cache.TransactionTypeAdd, Object: first},
			cache.Transaction{Type: cache.TransactionTypeDelete, Object: newPod("ns1", "pod1", "")},
			cache.Transaction{Type: cache.TransactionTypeUpdate, Object: newPod("ns2", "pod2", "l4")})
		expect.That(t, err == nil, "%v", err)
	})
	var seen []any
	writer.running.Go(func() { seen = index.List() })
	waitsForLock(t, "sync.RWMutex.RLock", "(*threadSafeMap).List")
	writer.release()
	if got := names(seen); len(seen) != 2 || !strings.Contains(got, "pod3") || !strings.Contains(got, "pod2") {
		t.Errorf("a reader saw %s", got)
	}
	wantKeys(t, index, "app", "l4", "ns2/pod2")
}

// The queue of client-go's informers hands over up to 1,000 deltas at once, each
// of another object.
func TestAQueueOfClientGosIsPoppedInBatches(t *testing.T) {
	known := cache.NewStore(cache.MetaNamespaceKeyFunc)
	queue := cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{KnownObjects: known})
	pod := func(i int) any { return newPod("ns1", fmt.Sprintf("pod%d", i), "l1") }
	for i := range 1100 {
		must.Do(t, queue.Add(pod(i)))
	}
	for range 2 {
		must.Do(t, queue.Update(pod(0)))
	}
	wantBatches := func(want ...int) {
		t.Helper()
		var sizes []int
		for range want {
			must.Do(t, queue.PopBatch(
				func(deltas []cache.Delta, _ bool) error { sizes = append(sizes, len(deltas)); return nil },
				func(any, bool) error { sizes = append(sizes, 1); return nil }))
		}
		expect.That(t, slices.Equal(sizes, want), "batches of %v, want %v", sizes, want)
	}
	wantBatches(1000, 101, 1) // the next 101 pods, and the second update of one of them
	// A whole list, or a resync, is never in a batch with others.
	queue = cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{AtomicEvents: true})
	must.Do(t, errors.Join(queue.Add(pod(1)), queue.Add(pod(2)), queue.Replace([]any{pod(1), pod(2)}, "5"),
		queue.Add(pod(3)), queue.Add(pod(4)), queue.Resync()))
	wantBatches(2, 1, 2, 1) // two pods, the list, two pods, the resync
	expect.That(t, clientgofeatures.FeatureGates().Enabled(clientgofeatures.InOrderInformersBatchProcess),
		"informers do not pop in batches any more, unless they are told to")
}

// An informer with one handler calls it in its loop. In the middle of a batch the
// store has what comes later, too.
func TestTheStoreIsAheadOfTheEventsOfABatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, release := fakeapi.New(), make(chan struct{})
		stored := map[string]int{} // what the store had at the event of each pod
		var index cache.Store
		index, loop := cache.NewInformerWithOptions(cache.InformerOptions{
			ListerWatcher: server,
			ObjectType:    &corev1.Pod{},
			Handler: cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
				stored[obj.(*corev1.Pod).Name] = len(index.ListKeys())
				if obj.(*corev1.Pod).Name == "pod1" {
					<-release
				}
			}},
		})
		stop := must.Run(t, loop.RunWithContext)
		w := server.NextWatch()
		for _, name := range []string{"pod1", "pod2", "pod3"} {
			w.Add(newPod("ns1", name, "l1"))
			synctest.Wait() // pod1 is with the handler; the others gather in the queue
		}
		close(release)
		synctest.Wait()
		stop()
		expect.That(t, stored["pod1"] == 1 && stored["pod2"] == 3 && stored["pod3"] == 3,
			"pods in the store at each event: %v", stored)
	})
}

// An update that keeps one value leaves the index alone; the lines that do this,
// and the reason for transactions, are in the source.
func TestClientGosStoreSays(t *testing.T) {
	must.Say(t, "store.go", "Transaction allows multiple operations to occur within a single lock acquisition to "+
		"ensure progress can be made when there is contention")
	must.Say(t, "thread_safe_store.go",
		"len(indexValues) == 1 && len(oldIndexValues) == 1 && indexValues[0] == oldIndexValues[0]",
		"oldObject := c.items[key] c.items[key] = obj c.index.updateIndices(oldObject, obj, key)")
	must.Say(t, "controller.go", "all Deltas are applied atomically in a single transaction and corresponding "+
		"handler callbacks are executed afterward. Otherwise, each Delta is processed individually")
}
