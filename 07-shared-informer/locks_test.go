// Claims of the page docs/07-shared-informer-store.md about the lock of client-go's store, tested
// on the pinned version, and about our store beside it.

package main

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	clientgofeatures "k8s.io/client-go/features"
	featurestesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/04-indexer/indexer"
	"example.com/informer/04-indexer/indexer/indexertest"
	"example.com/informer/07-shared-informer/store"
	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
)

// filled returns a store of client-go's with the pods ns1/pod1 (app l1) and ns2/pod2 (app l2).
func filled(t *testing.T, indexers cache.Indexers) cache.Indexer {
	t.Helper()
	index := cache.NewIndexer(cache.MetaNamespaceKeyFunc, indexers)
	must.NoError(t, index.Add(newPod("ns1", "pod1", "l1")))
	must.NoError(t, index.Add(newPod("ns2", "pod2", "l2")))
	return index
}

// A blockedCall is a call of a store whose index function blocks for one object, until the test
// releases it.
type blockedCall struct {
	indexers cache.Indexers // for the store
	blocked  chan struct{}  // closed when the index function blocks
	released chan struct{}  // closed when the index function may return
	running  sync.WaitGroup // the call, and other calls at the same time
}

// blockAt returns a blockedCall whose index function blocks for this object.
func blockAt(blocking any) *blockedCall {
	c := &blockedCall{blocked: make(chan struct{}), released: make(chan struct{})}
	c.indexers = cache.Indexers{"app": func(obj any) ([]string, error) {
		if obj == blocking {
			close(c.blocked)
			<-c.released
		}
		return indexer.ByLabel("app")(obj)
	}}
	return c
}

// run starts the call, and returns when its index function blocks.
func (c *blockedCall) run(call func()) {
	c.running.Go(call)
	<-c.blocked
}

// release lets the index function return, and waits until all calls have returned.
func (c *blockedCall) release() {
	close(c.released)
	c.running.Wait()
}

// waitForBlockedOn returns when a goroutine waits for a lock, such as sync.RWMutex.RLock, in a
// method.
func waitForBlockedOn(t *testing.T, lock, method string) {
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

// readAndWrite returns a store of client-go's with a reader that is blocked, and with a writer that
// waits for the reader.
func readAndWrite(t *testing.T) (index cache.Indexer, reader *blockedCall) {
	t.Helper()
	asked := newPod("ns1", "asked", "l1")
	reader = blockAt(asked)
	index = filled(t, reader.indexers)
	reader.run(func() { index.Index("app", asked) })
	for _, key := range []string{"ns1/pod1", "ns2/pod2"} { // other readers do not have to wait
		_, exists, err := index.GetByKey(key)
		if !exists || err != nil {
			t.Errorf("GetByKey(%s) = %t, %v; want true, nil", key, exists, err)
		}
	}
	reader.running.Go(func() { index.Update(newPod("ns1", "pod1", "l3")) })
	waitForBlockedOn(t, "sync.RWMutex.Lock", "(*threadSafeMap).Update")
	return index, reader
}

func TestAReaderHoldsUpAWriterOfClientGosStore(t *testing.T) {
	index, reader := readAndWrite(t)
	reader.release()
	indexertest.WantKeys(t, index, "app", "l3", "ns1/pod1")
}

func TestAWaitingWriterHoldsUpTheReadersAfterIt(t *testing.T) {
	index, reader := readAndWrite(t)
	reader.running.Go(func() { index.GetByKey("ns2/pod2") })
	reader.running.Go(func() { index.List() })
	waitForBlockedOn(t, "sync.RWMutex.RLock", "(*threadSafeMap).Get")
	waitForBlockedOn(t, "sync.RWMutex.RLock", "(*threadSafeMap).List")
	reader.release()
}

func TestClientGosStoreIsLockedWhileAnIndexFunctionRuns(t *testing.T) {
	pod := newPod("ns3", "pod3", "l3")
	for _, write := range []func(*blockedCall){
		func(c *blockedCall) {
			index := filled(t, c.indexers)
			c.run(func() { index.Add(pod) })
			c.running.Go(func() { index.GetByKey("ns1/pod1") })
		},
		func(c *blockedCall) {
			index := filled(t, cache.Indexers{})
			must.NoError(t, index.Add(pod))
			c.run(func() { index.AddIndexers(c.indexers) })
			c.running.Go(func() { index.GetByKey("ns1/pod1") })
		},
	} {
		writer := blockAt(pod)
		write(writer)
		waitForBlockedOn(t, "sync.RWMutex.RLock", "(*threadSafeMap).Get")
		writer.release()
	}
}

func TestAnIndexFunctionHoldsUpListsOfOurStoreAndNoGets(t *testing.T) {
	pod := newPod("ns3", "pod3", "l3")
	writer := blockAt(pod)
	index := store.New(store.Options{Indexers: writer.indexers})
	must.NoError(t, index.Add(newPod("ns1", "pod1", "l1")))
	writer.run(func() { index.Add(pod) })
	_, exists, err := index.GetByKey("ns1/pod1") // it does not wait
	if !exists || err != nil {
		t.Errorf("GetByKey(ns1/pod1) = %t, %v; want true, nil", exists, err)
	}
	writer.running.Go(func() { index.List() })
	waitForBlockedOn(t, "sync.Mutex.Lock", "(*Store).Snapshot")
	writer.release()
}

// A reader that begins in the middle of a transaction gets the state after the transaction.
func TestATransactionOfClientGosStoreTakesTheLockOnce(t *testing.T) {
	first := newPod("ns3", "pod3", "l3")
	writer := blockAt(first)
	index := filled(t, writer.indexers)
	transactions, ok := index.(cache.TransactionStore)
	if !ok {
		t.Fatalf("%T is not a cache.TransactionStore", index)
	}
	writer.run(func() {
		err := transactions.Transaction(cache.Transaction{Type: cache.TransactionTypeAdd, Object: first},
			cache.Transaction{Type: cache.TransactionTypeDelete, Object: newPod("ns1", "pod1", "")},
			cache.Transaction{Type: cache.TransactionTypeUpdate, Object: newPod("ns2", "pod2", "l4")})
		if err != nil {
			t.Errorf("Transaction() = %v, want nil", err)
		}
	})
	var seen []any
	writer.running.Go(func() { seen = index.List() })
	waitForBlockedOn(t, "sync.RWMutex.RLock", "(*threadSafeMap).List")
	writer.release()
	got := slices.Sorted(strings.SplitSeq(indexertest.Names(seen), " "))
	if want := []string{"pod2", "pod3"}; !slices.Equal(got, want) {
		t.Errorf("the reader got the pods %q, want %q", got, want)
	}
	indexertest.WantKeys(t, index, "app", "l4", "ns2/pod2")
}

// PopBatch of client-go's RealFIFO returns up to 1,000 deltas at the same time, each of another
// object.
func TestAQueueOfClientGosIsPoppedInBatches(t *testing.T) {
	known := cache.NewStore(cache.MetaNamespaceKeyFunc)
	queue := cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{KnownObjects: known})
	pod := func(i int) any { return newPod("ns1", fmt.Sprintf("pod%d", i), "l1") }
	for i := range 1100 {
		must.NoError(t, queue.Add(pod(i)))
	}
	for range 2 {
		must.NoError(t, queue.Update(pod(0)))
	}
	wantBatches := func(want ...int) {
		t.Helper()
		var sizes []int
		for range want {
			err := queue.PopBatch(
				func(deltas []cache.Delta, _ bool) error {
					sizes = append(sizes, len(deltas))
					return nil
				},
				func(any, bool) error {
					sizes = append(sizes, 1)
					return nil
				})
			must.NoError(t, err)
		}
		if !slices.Equal(sizes, want) {
			t.Errorf("sizes of the batches: %v, want %v", sizes, want)
		}
	}
	wantBatches(1000, 101, 1) // 1000 pods; 100 pods and an update of pod0; the second update of pod0
	// A list, a resync or a bookmark is never in a batch with other deltas.
	queue = cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{AtomicEvents: true, EmitDeltaTypeBookmark: true})
	must.NoError(t, queue.Add(pod(1)))
	must.NoError(t, queue.Add(pod(2)))
	must.NoError(t, queue.Replace([]any{pod(1), pod(2)}, "5"))
	must.NoError(t, queue.Add(pod(3)))
	must.NoError(t, queue.Add(pod(4)))
	must.NoError(t, queue.Resync())
	must.NoError(t, queue.Add(pod(5)))
	must.NoError(t, queue.Bookmark("6"))
	wantBatches(2, 1, 2, 1, 1, 1) // two pods, the list, two pods, the resync, a pod, the bookmark
	if !clientgofeatures.FeatureGates().Enabled(clientgofeatures.InOrderInformersBatchProcess) {
		t.Error("the feature gate InOrderInformersBatchProcess is off by default, want on")
	}
}

// An informer with one handler calls the handler in its loop. When the handler gets the first event
// of a batch, the store has the objects of the later events already. Without batches, it does not.
func TestTheStoreIsAheadOfTheEventsOfABatch(t *testing.T) {
	wantStoredAtEachEvent(t, map[string]int{"pod1": 1, "pod2": 3, "pod3": 3})
	featurestesting.SetFeatureDuringTest(t, clientgofeatures.InOrderInformersBatchProcess, false)
	wantStoredAtEachEvent(t, map[string]int{"pod1": 1, "pod2": 2, "pod3": 3})
}

// wantStoredAtEachEvent adds three pods, of which two wait in the queue, and wants a number of pods in
// the store at the event of each pod.
func wantStoredAtEachEvent(t *testing.T, want map[string]int) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		server, release := fakeapi.New(), make(chan struct{})
		stored := map[string]int{}
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
			synctest.Wait() // the handler has pod1; the other pods wait in the queue
		}
		close(release)
		synctest.Wait()
		stop()
		if diff := cmp.Diff(want, stored); diff != "" {
			t.Errorf("number of pods in the store at the event of each pod (-want +got):\n%s", diff)
		}
	})
}

// While the handler of an informer is called, the reflector can add to the queue, unless one of two
// gates is off.
func TestTheReflectorWaitsForALockedQueue(t *testing.T) {
	for _, off := range []clientgofeatures.Feature{
		"", clientgofeatures.UnlockWhileProcessingFIFO, clientgofeatures.AtomicFIFO,
	} {
		t.Run("off: "+string(off), func(t *testing.T) {
			if off != "" {
				featurestesting.SetFeatureDuringTest(t, off, false)
			}
			server, called, release := fakeapi.New(), make(chan struct{}), make(chan struct{})
			_, loop := cache.NewInformerWithOptions(cache.InformerOptions{
				ListerWatcher: server,
				ObjectType:    &corev1.ConfigMap{},
				Handler: cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
					if obj.(*corev1.ConfigMap).Name == "first" {
						close(called)
						<-release
					}
				}},
			})
			must.Run(t, loop.RunWithContext)
			w := server.NextWatch()
			w.Add(fakeapi.ConfigMap("first", "2"))
			<-called
			w.Add(fakeapi.ConfigMap("second", "3"))
			if off != "" {
				waitForBlockedOn(t, "sync.", "(*RealFIFO).Add")
			} else {
				must.Until(t, "the reflector has added the second object", func() bool {
					return loop.LastSyncResourceVersion() == "3"
				})
			}
			close(release)
		})
	}
}

// If 2,000 deltas or more wait in the queue, it stays locked while one is processed.
func TestALongQueueStaysLocked(t *testing.T) {
	for waiting, locked := range map[int]bool{1999: false, 2000: true} {
		queue := cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{AtomicEvents: true, UnlockWhileProcessing: true})
		for range 1 + waiting {
			must.NoError(t, queue.Add(newPod("ns1", "pod1", "l1")))
		}
		var adding sync.WaitGroup
		_, err := queue.Pop(func(any, bool) error {
			adding.Go(func() { queue.Add(newPod("ns1", "pod2", "l1")) })
			if locked {
				waitForBlockedOn(t, "sync.", "(*RealFIFO).Add")
			} else {
				adding.Wait()
			}
			return nil
		})
		must.NoError(t, err)
		adding.Wait()
	}
}

// The source of client-go has the reason for transactions. It also shows that an update does not
// change an index if the only value stays the same.
func TestClientGosStoreSays(t *testing.T) {
	must.FindInClientGo(t, "store.go",
		"Transaction allows multiple operations to occur within a single lock acquisition to "+
			"ensure progress can be made when there is contention")
	must.FindInClientGo(t, "thread_safe_store.go",
		"len(indexValues) == 1 && len(oldIndexValues) == 1 && indexValues[0] == oldIndexValues[0]",
		"oldObject := c.items[key] c.items[key] = obj c.index.updateIndices(oldObject, obj, key)")
	must.FindInClientGo(t, "controller.go",
		"all Deltas are applied atomically in a single transaction and corresponding "+
			"handler callbacks are executed afterward. Otherwise, each Delta is processed individually")
}
