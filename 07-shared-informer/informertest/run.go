// The start and the end of an informer.

package informertest

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/tools/cache"
)

// At the end of each test, package synctest checks that all goroutines have ended.
func runEnds(t *testing.T, newInformer New) {
	r := newRig(newInformer, options{}, configMap("a", "1"))
	handler := r.recorder(t)
	r.wantStopped(t, "before the start", false)
	r.run(t)
	r.wantStopped(t, "while it runs", false)
	w := r.server.nextWatch()
	start := time.Now()
	r.stop()
	if took := time.Since(start); took != 0 {
		t.Errorf("Run returned %v after its channel was closed, want 0", took)
	}
	r.wantStopped(t, "after the end", true)
	if !w.IsStopped() {
		t.Error("IsStopped() = false for the watch after the end, want true")
	}
	handler.want(t, "OnAdd a 1 first")
	r.wantKeys(t, "after the end", "ns/a")
}

// "run more than once is not allowed": neither while it runs, nor afterwards.
func runsOnce(t *testing.T, newInformer New) {
	r := newRig(newInformer, options{}, configMap("a", "1"))
	handler := r.recorder(t)
	r.run(t)
	never := make(chan struct{})
	r.Run(never)
	handler.want(t, "OnAdd a 1 first")
	r.server.nextWatch().Add(configMap("b", "2")) // the first run goes on
	handler.want(t, "OnAdd b 2")
	r.stop()
	r.Run(never)
	r.wantRequests(t, 1, 1)
	r.wantStopped(t, "after the end", true)
}

func endsWithoutAnAnswer(t *testing.T, newInformer New) {
	r := newRig(newInformer, options{})
	defer r.server.hold()()
	r.run(t)
	r.stop()
	r.wantStopped(t, "after the end", true)
}

func runWaitsForTheCall(t *testing.T, newInformer New) {
	r := newRig(newInformer, options{}, configMap("a", "1"))
	var calls lines
	r.handle(t, cache.ResourceEventHandlerFuncs{AddFunc: func(any) {
		time.Sleep(time.Minute)
		calls.add("returned")
	}})
	r.run(t)
	start := time.Now()
	r.stop()
	if took := time.Since(start); took != time.Minute {
		t.Errorf("Run returned after %v, want %v", took, time.Minute)
	}
	calls.want(t, "returned")
}

func endInTheMidstOfThings(t *testing.T, newInformer New) {
	r := newRig(newInformer, options{}, configMap("a", "1"))
	r.run(t)
	var working sync.WaitGroup
	for range 4 {
		working.Go(func() {
			for range 50 {
				if registration, err := r.AddEventHandler(cache.ResourceEventHandlerFuncs{}); err == nil {
					registration.HasSynced()
					if err := r.RemoveEventHandler(registration); err != nil {
						t.Errorf("RemoveEventHandler() = %v, want nil", err)
					}
				}
				r.LastSyncResourceVersion()
			}
		})
	}
	r.stop()
	working.Wait()
	synctest.Wait()
	r.wantStopped(t, "after the end", true)
}
