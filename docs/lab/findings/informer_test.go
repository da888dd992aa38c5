// Findings in the informer, its queue and its store.

package findings

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/cache/synctrack"

	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
)

func TestResyncOfARealFIFOLosesItsError(t *testing.T) {
	known := cache.NewStore(cache.MetaNamespaceKeyFunc)
	must.NoError(t, known.Add(fakeapi.ConfigMap("a", "1")))
	noKey := func(any) (string, error) { return "", errors.New("no key") }
	queue := cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{KnownObjects: known, KeyFunction: noKey})
	if err := queue.Resync(); err == nil || !strings.Contains(err.Error(), "%!w(<nil>)") {
		fixed(t, "the error is %v", err)
	}
}

// Finished of the first object counts down to zero, and then checks whether the list is complete.
// If the second object and the end of the list come between the two, the tracker syncs too early.
// There are only a few instructions between the two, so the test needs two cores and many tries.
func TestATrackerHasSyncedBeforeItsLastObjectIsFinished(t *testing.T) {
	if runtime.GOMAXPROCS(0) == 1 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var next, finished atomic.Pointer[synctrack.SingleFileTracker]
	go func() {
		for ctx.Err() == nil {
			if tracker := next.Swap(nil); tracker != nil {
				tracker.Finished()
				finished.Store(tracker)
			}
		}
	}()
	for try := 0; ctx.Err() == nil; try++ {
		tracker := synctrack.NewSingleFileTracker("")
		tracker.Start()
		next.Store(tracker)
		for range try % 100 { // a delay of another length in each try, until it is the right one
			_ = ctx.Err()
		}
		tracker.Start()
		tracker.UpstreamHasSynced()
		for finished.Load() != tracker && ctx.Err() == nil {
		}
		if tracker.HasSynced() {
			return // the second object is not finished: this is the defect
		}
	}
	fixed(t, "a tracker does not sync early in two minutes")
}
