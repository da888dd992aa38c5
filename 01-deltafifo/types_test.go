// Which call of client-go's queues makes which type of delta, when a queue has
// synced, which options it has, and which keys.

package main

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/01-deltafifo/deltafifo"
	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
)

// pod1 is known, and pod2 is new.
func TestWhichCallMakesWhichTypeOfDelta(t *testing.T) {
	calls := map[string]func(cache.Queue) error{
		"Add":     func(q cache.Queue) error { return q.Add(pod2) },
		"Update":  func(q cache.Queue) error { return q.Update(pod2) },
		"Delete":  func(q cache.Queue) error { return q.Delete(pod1) },
		"Replace": func(q cache.Queue) error { return q.Replace([]any{pod2}, "1") },
		"Resync":  func(q cache.Queue) error { return q.Resync() },
		"Bookmark": func(q cache.Queue) error {
			if q, ok := q.(cache.ReflectorBookmarkStore); ok {
				return q.Bookmark("2")
			}
			return nil
		},
	}
	known := knownPods{"pod1": pod1}
	for name, test := range map[string]struct {
		newQueue func() cache.Queue
		want     map[string]string
	}{
		"DeltaFIFO": {
			func() cache.Queue {
				return cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{KeyFunction: podKey, KnownObjects: known})
			},
			map[string]string{"Replace": "[[Sync] [Deleted]]", "Resync": "[[Sync]]", "Bookmark": "[]"},
		},
		"DeltaFIFO with EmitDeltaTypeReplaced": {
			func() cache.Queue {
				return cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{KeyFunction: podKey, KnownObjects: known,
					EmitDeltaTypeReplaced: true})
			},
			map[string]string{"Replace": "[[Replaced] [Deleted]]", "Resync": "[[Sync]]", "Bookmark": "[]"},
		},
		"RealFIFO": {
			func() cache.Queue { return newRealFIFO(known) },
			map[string]string{"Replace": "[[Deleted] [Replaced]]", "Resync": "[[Sync]]", "Bookmark": "[]"},
		},
		"RealFIFO of an informer": {
			func() cache.Queue {
				return cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{KeyFunction: podKey, AtomicEvents: true,
					EmitDeltaTypeBookmark: true})
			},
			map[string]string{"Replace": "[[ReplacedAll]]", "Resync": "[[SyncAll]]", "Bookmark": "[[Bookmark]]"},
		},
	} {
		test.want["Add"], test.want["Update"], test.want["Delete"] = "[[Added]]", "[[Updated]]", "[[Deleted]]"
		for call, want := range test.want {
			t.Run(name+", "+call, func(t *testing.T) {
				queue := test.newQueue()
				must.Do(t, calls[call](queue))
				wantPops(t, queue, want)
			})
		}
	}
}

func TestAQueueHasSyncedWhenItsFirstListIsPopped(t *testing.T) {
	newQueues := func() []cache.Queue {
		return []cache.Queue{newDeltaFIFO(), newRealFIFO(knownPods{})}
	}
	for _, queue := range newQueues() {
		synced := []bool{queue.HasSynced()}
		must.Do(t, errors.Join(queue.Replace([]any{pod1, pod2}, "1"), queue.Add(pod3)))
		for i := range 3 {
			synced = append(synced, queue.HasSynced())
			_, err := queue.Pop(func(_ any, initial bool) error {
				expect.That(t, initial == (i < 2), "%T: pod%d in the initial list: %t", queue, i+1, initial)
				return nil
			})
			must.Do(t, err)
		}
		expect.That(t, slices.Equal(synced, []bool{false, false, false, true}),
			"%T: synced before the list, with two pods, with one, without: %t", queue, synced)
		must.Do(t, queue.Replace([]any{pod1, pod2, pod3}, "2"))
		queue.Close()
		expect.That(t, queue.HasSynced(), "%T waits for a list after the first", queue)
	}
	for _, queue := range newQueues() {
		must.Do(t, queue.Add(pod1))
		expect.That(t, queue.HasSynced(), "%T waits for a list after Add", queue)
	}
	for _, queue := range newQueues() {
		must.Do(t, queue.Replace(nil, "1"))
		expect.That(t, queue.HasSynced(), "%T waits for a pop after an empty list", queue)
	}
}

// HasSynced does not show the difference: it waits for the lock.
func TestTheCheckerOfADeltaFIFOIsDoneBeforeTheLastPodIsProcessed(t *testing.T) {
	for queue, want := range map[cache.Queue]bool{newDeltaFIFO(): true, newRealFIFO(knownPods{}): false} {
		must.Do(t, queue.Replace([]any{pod1}, "1"))
		_, err := queue.Pop(func(any, bool) error {
			got := cache.IsDone(queue.HasSyncedChecker())
			expect.That(t, got == want, "%T: done while the pod is processed: %t, want %t", queue, got, want)
			return nil
		})
		must.Do(t, err)
		expect.That(t, cache.IsDone(queue.HasSyncedChecker()), "%T is not done after the last pod", queue)
	}
}

func TestDeltaFIFOsCommentsSay(t *testing.T) {
	must.Say(t, "delta_fifo.go",
		"DeltaFIFO solves this use case: "+
			"- You want to process every object change (delta) at most once. "+
			"- When you process an object, you want to see "+
			"everything that's happened to it since you last processed it. "+
			"- You want to process the deletion of some of the objects. "+
			"- You might want to periodically reprocess objects.",
		"if you don't successfully process it, you need to add it back with AddIfNotPresent()",
		"Presumably, this was deleted when a relist happened. Don't provide a second report of the same deletion.")
}

// The defaults of KnownObjects and EmitDeltaTypeReplaced show above, and in
// TestDeltaFIFOLosesTheDeleteOfWhatItDoesNotKnow.
func TestTheOptionsOfADeltaFIFO(t *testing.T) {
	var fields []string
	for field := range reflect.TypeFor[cache.DeltaFIFOOptions]().Fields() {
		fields = append(fields, field.Name)
	}
	want := []string{"Logger", "Name", "KeyFunction", "KnownObjects", "EmitDeltaTypeReplaced", "Transformer"}
	expect.That(t, slices.Equal(fields, want), "the options are %v, want %v", fields, want)
	queue := cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{})
	key, err := queue.KeyOf(realPod("pod1", "1"))
	expect.That(t, err == nil && key == "ns1/pod1" && queue.Name() == "DeltaFIFO" && queue.Transformer() == nil,
		"by default the key is %s, %v; the name is %s; there is a transformer: %t",
		key, err, queue.Name(), queue.Transformer() != nil)
	must.Say(t, "delta_fifo.go", "If set, log output will go to this logger instead of klog.Background().")
}

// It gets what the producer brings, and nothing that was in the queue or the store before.
func TestATransformerGetsNeitherTombstonesNorResyncs(t *testing.T) {
	var got []any
	queue := cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{KeyFunction: podKey,
		KnownObjects: knownPods{"pod1": pod1},
		Transformer:  func(obj any) (any, error) { got = append(got, obj); return obj, nil }})
	must.Do(t, errors.Join(queue.Resync(), queue.Replace([]any{pod2}, "1"), queue.Add(pod3), queue.Delete(pod3)))
	want := []any{pod2, pod3, pod3}
	expect.That(t, slices.Equal(got, want), "it got %v, want %v", got, want)
	wantPops(t, queue, "[[Sync Deleted] [Sync] [Added Deleted]]")
}

func TestTheKeyOfDeltasAndOfATombstone(t *testing.T) {
	theirs, ours := newDeltaFIFO(), deltafifo.New(deltafifo.Options{KeyFunction: podKey})
	tombstone := cache.DeletedFinalStateUnknown{Key: "pod2", Obj: pod1} // its object does not count
	deltas := cache.Deltas{{Type: cache.Added, Object: pod1}, {Type: cache.Deleted, Object: tombstone}}
	for _, c := range []struct {
		obj          any
		theirs, ours string // empty: an error
	}{
		{pod1, "pod1", "pod1"},
		{tombstone, "pod2", "pod2"},
		{deltas, "pod2", ""}, // of the newest delta
		{deltas[:1], "pod1", ""},
		{cache.Deltas{}, "", ""},
	} {
		their, theirErr := theirs.KeyOf(c.obj)
		our, ourErr := ours.KeyOf(c.obj)
		if their != c.theirs || (theirErr != nil) != (their == "") || our != c.ours || (ourErr != nil) != (our == "") {
			t.Errorf("%v: theirs %q, %v; ours %q, %v", c.obj, their, theirErr, our, ourErr)
		}
	}
	_, err := theirs.KeyOf(cache.Deltas{})
	expect.That(t, errors.Is(err, cache.ErrZeroLengthDeltasObject), "no deltas: %v", err)
}
