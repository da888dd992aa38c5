// Which call of client-go's queues makes which type of delta.

package main

import (
	"testing"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/must"
)

// pod1 is known, and pod2 is new.
func TestWhichCallMakesWhichTypeOfDelta(t *testing.T) {
	known := knownPods{"pod1": pod1}
	for name, test := range map[string]struct {
		newQueue func() cache.Queue

		// The types of the deltas of each Pop, after one call.
		afterReplace, afterResync, afterBookmark []deltaTypes
	}{
		"DeltaFIFO": {
			newQueue: func() cache.Queue {
				return cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{KeyFunction: podKey, KnownObjects: known})
			},
			afterReplace: []deltaTypes{{cache.Sync}, {cache.Deleted}},
			afterResync:  []deltaTypes{{cache.Sync}},
		},
		"DeltaFIFO with EmitDeltaTypeReplaced": {
			newQueue: func() cache.Queue {
				return cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{
					KeyFunction:           podKey,
					KnownObjects:          known,
					EmitDeltaTypeReplaced: true,
				})
			},
			afterReplace: []deltaTypes{{cache.Replaced}, {cache.Deleted}},
			afterResync:  []deltaTypes{{cache.Sync}},
		},
		"RealFIFO": {
			newQueue:     func() cache.Queue { return newRealFIFO(known) },
			afterReplace: []deltaTypes{{cache.Deleted}, {cache.Replaced}},
			afterResync:  []deltaTypes{{cache.Sync}},
		},
		"RealFIFO of an informer": {
			newQueue: func() cache.Queue {
				return cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{
					KeyFunction:           podKey,
					AtomicEvents:          true,
					EmitDeltaTypeBookmark: true,
				})
			},
			afterReplace:  []deltaTypes{{cache.ReplacedAll}},
			afterResync:   []deltaTypes{{cache.SyncAll}},
			afterBookmark: []deltaTypes{{cache.Bookmark}},
		},
	} {
		for _, call := range []struct {
			name string
			call func(cache.Queue) error
			want []deltaTypes
		}{
			{"Add", func(q cache.Queue) error { return q.Add(pod2) }, []deltaTypes{{cache.Added}}},
			{"Update", func(q cache.Queue) error { return q.Update(pod2) }, []deltaTypes{{cache.Updated}}},
			{"Delete", func(q cache.Queue) error { return q.Delete(pod1) }, []deltaTypes{{cache.Deleted}}},
			{"Replace", func(q cache.Queue) error { return q.Replace([]any{pod2}, "1") }, test.afterReplace},
			{"Resync", func(q cache.Queue) error { return q.Resync() }, test.afterResync},
			{"Bookmark", bookmark, test.afterBookmark},
		} {
			t.Run(name+", "+call.name, func(t *testing.T) {
				queue := test.newQueue()
				must.NoError(t, call.call(queue))
				wantPops(t, queue, call.want...)
			})
		}
	}
}

// bookmark sends a bookmark to a queue that takes bookmarks.
func bookmark(queue cache.Queue) error {
	bookmarks, ok := queue.(cache.ReflectorBookmarkStore)
	if !ok {
		return nil
	}
	return bookmarks.Bookmark("2")
}
