// What the page docs/04-indexer-a-store-of-our-own.md says about client-go's
// store and its lock, shown on the pinned version; and about ours beside it.

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgofeatures "k8s.io/client-go/features"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/04-indexer/indexer"
	"example.com/informer/04-indexer/store"
	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
)

// pausing is an index function that stops for one object until it is released.
type pausing struct {
	at               any // the object
	paused, released chan struct{}
}

func newPausing(at any) pausing { return pausing{at, make(chan struct{}), make(chan struct{})} }

func (p pausing) indexers() cache.Indexers {
	return cache.Indexers{"app": func(obj any) ([]string, error) {
		if obj == p.at {
			close(p.paused)
			<-p.released
		}
		return indexer.ByLabel("app")(obj)
	}}
}

// waitsForLock returns when a goroutine waits for a lock, such as
// sync.RWMutex.RLock, in a method.
func waitsForLock(t *testing.T, lock, method string) {
	t.Helper()
	stacks := make([]byte, 1<<20)
	err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, time.Minute, true,
		func(context.Context) (bool, error) {
			for stack := range strings.SplitSeq(string(stacks[:runtime.Stack(stacks, true)]), "\n\n") {
				header, calls, _ := strings.Cut(stack, "\n")
				if strings.Contains(header, "["+lock) && strings.Contains(calls, method+"(") {
					return true, nil
				}
			}
			return false, nil
		})
	if err != nil {
		t.Errorf("no goroutine waits for %s in %s", lock, method)
	}
}

func TestAReaderHoldsUpAWriterOfClientGosStore(t *testing.T) {
	asked := newPod("ns1", "asked", "l1")
	reader := newPausing(asked)
	index := filled(t, reader.indexers())
	var running sync.WaitGroup
	running.Go(func() { index.Index("app", asked) })
	<-reader.paused
	for _, key := range []string{"ns1/pod1", "ns2/pod2"} { // other readers are welcome
		if _, exists, _ := index.GetByKey(key); !exists {
			t.Errorf("%s is not there", key)
		}
	}
	running.Go(func() { index.Update(newPod("ns1", "pod1", "l3")) })
	waitsForLock(t, "sync.RWMutex.Lock", "(*threadSafeMap).Update")
	close(reader.released)
	running.Wait()
	wantKeys(t, index, "app", "l3", "ns1/pod1")
}

func TestAWaitingWriterHoldsUpTheReadersAfterIt(t *testing.T) {
	asked := newPod("ns1", "asked", "l1")
	reader := newPausing(asked)
	index := filled(t, reader.indexers())
	var running sync.WaitGroup
	running.Go(func() { index.Index("app", asked) })
	<-reader.paused
	running.Go(func() { index.Update(newPod("ns1", "pod1", "l3")) })
	waitsForLock(t, "sync.RWMutex.Lock", "(*threadSafeMap).Update")
	running.Go(func() { index.GetByKey("ns2/pod2") })
	running.Go(func() { index.List() })
	waitsForLock(t, "sync.RWMutex.RLock", "(*threadSafeMap).Get")
	waitsForLock(t, "sync.RWMutex.RLock", "(*threadSafeMap).List")
	close(reader.released)
	running.Wait()
}

func TestClientGosStoreIsLockedWhileAnIndexFunctionRuns(t *testing.T) {
	pod := newPod("ns3", "pod3", "l3")
	writer := newPausing(pod)
	index := filled(t, writer.indexers())
	var running sync.WaitGroup
	running.Go(func() { index.Add(pod) })
	<-writer.paused
	running.Go(func() { index.GetByKey("ns1/pod1") })
	waitsForLock(t, "sync.RWMutex.RLock", "(*threadSafeMap).Get")
	close(writer.released)
	running.Wait()
}

func TestAnIndexFunctionHoldsUpListsOfOurStoreAndNoGets(t *testing.T) {
	pod := newPod("ns3", "pod3", "l3")
	writer := newPausing(pod)
	index := store.New(store.Options{Indexers: writer.indexers()})
	must.Do(t, index.Add(newPod("ns1", "pod1", "l1")))
	var running sync.WaitGroup
	running.Go(func() { index.Add(pod) })
	<-writer.paused
	if _, exists, _ := index.GetByKey("ns1/pod1"); !exists { // it does not wait
		t.Error("ns1/pod1 is not there")
	}
	running.Go(func() { index.List() })
	waitsForLock(t, "sync.Mutex.Lock", "(*Store).Snapshot")
	close(writer.released)
	running.Wait()
}

// A reader that comes in the middle of a transaction gets the state after it.
func TestATransactionOfClientGosStoreTakesTheLockOnce(t *testing.T) {
	first := newPod("ns3", "pod3", "l3")
	writer := newPausing(first)
	index := filled(t, writer.indexers())
	transactions, ok := index.(cache.TransactionStore)
	if !ok {
		t.Fatalf("a %T has no transactions", index)
	}
	var running sync.WaitGroup
	running.Go(func() {
		if err := transactions.Transaction(cache.Transaction{Type: cache.TransactionTypeAdd, Object: first},
			cache.Transaction{Type: cache.TransactionTypeDelete, Object: newPod("ns1", "pod1", "")},
			cache.Transaction{Type: cache.TransactionTypeUpdate, Object: newPod("ns2", "pod2", "l4")}); err != nil {
			t.Error(err)
		}
	})
	<-writer.paused
	var seen []any
	running.Go(func() { seen = index.List() })
	waitsForLock(t, "sync.RWMutex.RLock", "(*threadSafeMap).List")
	close(writer.released)
	running.Wait()
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
	var sizes []int
	for range 3 {
		must.Do(t, queue.PopBatch(
			func(deltas []cache.Delta, _ bool) error { sizes = append(sizes, len(deltas)); return nil },
			func(any, bool) error { sizes = append(sizes, 1); return nil }))
	}
	if fmt.Sprint(sizes) != "[1000 101 1]" {
		t.Errorf("batches of %v; want 1,000, the next 101 pods, and the second update of one of them", sizes)
	}
	// A whole list, or a resync, is never in a batch with others.
	queue = cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{AtomicEvents: true})
	must.Do(t, errors.Join(queue.Add(pod(1)), queue.Add(pod(2)), queue.Replace([]any{pod(1), pod(2)}, "5"),
		queue.Add(pod(3)), queue.Add(pod(4)), queue.Resync()))
	sizes = nil
	for range 4 {
		must.Do(t, queue.PopBatch(
			func(deltas []cache.Delta, _ bool) error { sizes = append(sizes, len(deltas)); return nil },
			func(any, bool) error { sizes = append(sizes, 1); return nil }))
	}
	if fmt.Sprint(sizes) != "[2 1 2 1]" {
		t.Errorf("batches of %v; want two pods, the list, two pods, the resync", sizes)
	}
	if !clientgofeatures.FeatureGates().Enabled(clientgofeatures.InOrderInformersBatchProcess) {
		t.Error("informers do not pop in batches any more, unless they are told to")
	}
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
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { loop.RunWithContext(ctx) })
		w := server.NextWatch()
		for _, name := range []string{"pod1", "pod2", "pod3"} {
			w.Add(newPod("ns1", name, "l1"))
			synctest.Wait() // pod1 is with the handler; the others gather in the queue
		}
		close(release)
		synctest.Wait()
		cancel()
		running.Wait()
		if stored["pod1"] != 1 || stored["pod2"] != 3 || stored["pod3"] != 3 {
			t.Errorf("pods in the store at each event: %v", stored)
		}
	})
}

// An update that keeps one value leaves the index alone; the lines that do this,
// and the reason for transactions, are in the source.
func TestClientGosStoreSays(t *testing.T) {
	for file, texts := range map[string][]string{
		"store.go": {
			"Transaction allows multiple operations to occur within a single lock acquisition to ensure progress can " +
				"be made when there is contention",
		},
		"thread_safe_store.go": {
			"len(indexValues) == 1 && len(oldIndexValues) == 1 && indexValues[0] == oldIndexValues[0]",
			"oldObject := c.items[key] c.items[key] = obj c.index.updateIndices(oldObject, obj, key)",
		},
		"controller.go": {
			"all Deltas are applied atomically in a single transaction and corresponding handler callbacks are " +
				"executed afterward. Otherwise, each Delta is processed individually",
		},
	} {
		words := clientGosWords(t, file)
		for _, text := range texts {
			if !strings.Contains(words, text) {
				t.Errorf("%s does not say %q any more", file, text)
			}
		}
	}
}

// clientGosWords are the words of a file of client-go's tools/cache.
func clientGosWords(t *testing.T, file string) string {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.Dir}}", "k8s.io/client-go/tools/cache")
	dir, err := list.Output()
	must.Do(t, err)
	source, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), file))
	must.Do(t, err)
	return strings.Join(strings.Fields(strings.ReplaceAll(string(source), "//", "")), " ")
}
