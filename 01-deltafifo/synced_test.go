// Claims of the book about HasSynced of client-go's queues.

package main

import (
	"slices"
	"testing"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/must"
)

// newQueues returns an empty queue of each of client-go's two types.
func newQueues() []cache.Queue {
	return []cache.Queue{newDeltaFIFO(), newRealFIFO(knownPods{})}
}

func TestAQueueHasSyncedWhenItsFirstListIsPopped(t *testing.T) {
	t.Run("a list of two pods", testHasSyncedOfAList)
	t.Run("an empty list", func(t *testing.T) {
		for _, queue := range newQueues() {
			must.NoError(t, queue.Replace(nil, "1"))
			if !queue.HasSynced() {
				t.Errorf("%T: HasSynced() = false after an empty list, want true", queue)
			}
		}
	})
	t.Run("an empty list, and a tombstone", func(t *testing.T) {
		known := knownPods{"pod1": pod1}
		for _, queue := range []cache.Queue{
			cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{KeyFunction: podKey, KnownObjects: known}),
			newRealFIFO(known),
		} {
			must.NoError(t, queue.Replace(nil, "1"))
			if queue.HasSynced() {
				t.Errorf("%T: HasSynced() = true before the tombstone is popped, want false", queue)
				continue
			}
			popOne(t, queue)
			if !queue.HasSynced() {
				t.Errorf("%T: HasSynced() = false after the tombstone is popped, want true", queue)
			}
		}
	})
	t.Run("a change without a list", func(t *testing.T) {
		for name, change := range map[string]func(cache.Queue) error{
			"Add":    func(q cache.Queue) error { return q.Add(pod1) },
			"Update": func(q cache.Queue) error { return q.Update(pod1) },
			"Delete": func(q cache.Queue) error { return q.Delete(pod1) },
		} {
			for _, queue := range newQueues() {
				must.NoError(t, change(queue))
				if !queue.HasSynced() {
					t.Errorf("%T: HasSynced() = false after %s, want true", queue, name)
				}
			}
		}
	})
}

func testHasSyncedOfAList(t *testing.T) {
	for _, queue := range newQueues() {
		if queue.HasSynced() {
			t.Errorf("%T: HasSynced() = true before the list, want false", queue)
		}
		must.NoError(t, queue.Replace([]any{pod1, pod2}, "1"))
		must.NoError(t, queue.Add(pod3))
		var synced, initial []bool // before each pop
		for range 3 {
			synced = append(synced, queue.HasSynced())
			_, err := queue.Pop(func(_ any, isInInitialList bool) error {
				initial = append(initial, isInInitialList)
				return nil
			})
			must.NoError(t, err)
		}
		if want := []bool{false, false, true}; !slices.Equal(synced, want) {
			t.Errorf("%T: HasSynced() before each pop = %t, want %t", queue, synced, want)
		}
		if want := []bool{true, true, false}; !slices.Equal(initial, want) {
			t.Errorf("%T: isInInitialList of each pop = %t, want %t", queue, initial, want)
		}

		must.NoError(t, queue.Replace([]any{pod1, pod2, pod3}, "2"))
		queue.Close()
		if !queue.HasSynced() {
			t.Errorf("%T: HasSynced() = false after a second list, want true", queue)
		}
	}
}

// HasSynced does not show the difference, because it waits for the lock.
func TestTheCheckerOfADeltaFIFOIsDoneBeforeTheLastPodIsProcessed(t *testing.T) {
	for queue, want := range map[cache.Queue]bool{newDeltaFIFO(): true, newRealFIFO(knownPods{}): false} {
		must.NoError(t, queue.Replace([]any{pod1}, "1"))
		_, err := queue.Pop(func(any, bool) error {
			got := cache.IsDone(queue.HasSyncedChecker())
			if got != want {
				t.Errorf("%T: IsDone() = %t while the last pod is processed, want %t", queue, got, want)
			}
			return nil
		})
		must.NoError(t, err)
		if !cache.IsDone(queue.HasSyncedChecker()) {
			t.Errorf("%T: IsDone() = false after the last pod, want true", queue)
		}
	}
}
