// HasSynced of an informer, and of its handlers.

package informertest

import (
	"testing"
	"time"

	"k8s.io/client-go/tools/cache"
)

// The informer has synced when the store has the list. A handler has synced when it has returned
// from its last call for the list.
func syncedOfAHandler(t *testing.T, newInformer New) {
	r := newRig(newInformer, options{}, configMap("a", "1"), configMap("b", "1"))
	calls := make(chan struct{})
	slow := r.handle(t, cache.ResourceEventHandlerFuncs{AddFunc: func(any) { <-calls }})
	quick := r.recorder(t)
	wantSynced(t, "before the start", false, r, slow)
	r.run(t)
	wantSynced(t, "the informer and the quick handler", true, r, quick)
	wantSynced(t, "the slow one, in its first call", false, slow)
	calls <- struct{}{}
	wantSynced(t, "the slow one, in its last call", false, slow)
	calls <- struct{}{}
	wantSynced(t, "the slow one, when it has returned", true, slow)
}

func emptyListSyncs(t *testing.T, newInformer New) {
	r := newRig(newInformer, options{})
	early := r.recorder(t)
	r.run(t)
	wantSynced(t, "after the list", true, r, early, r.recorder(t))
}

// Events after the list neither delay the sync nor undo it.
func syncedOfALateHandler(t *testing.T, newInformer New) {
	r := newRig(newInformer, options{}, configMap("a", "1"))
	r.run(t)
	w := r.server.nextWatch()
	calls := make(chan struct{})
	late := r.handle(t, cache.ResourceEventHandlerFuncs{AddFunc: func(any) { <-calls }})
	w.Add(configMap("b", "2"))
	wantSynced(t, "in the call for the batch", false, late)
	calls <- struct{}{}
	wantSynced(t, "in the call for what came after", true, late)
	calls <- struct{}{}
	wantSynced(t, "after all calls", true, late)
}

func joinsDuringTheFirstList(t *testing.T, newInformer New) {
	r := newRig(newInformer, options{}, configMap("a", "1"))
	release := r.server.hold()
	r.run(t)
	between := r.recorder(t)
	between.want(t)
	wantSynced(t, "before the list", false, r, between)
	release()
	between.want(t, "OnAdd a 1 first")
	wantSynced(t, "after the list", true, r, between)
}

func failedListDoesNotSync(t *testing.T, newInformer New) {
	r := newRig(newInformer, options{}, configMap("a", "1"))
	r.server.fail(errNotToday)
	handler := r.recorder(t)
	r.run(t)
	wantSynced(t, "before the list", false, r, handler)
	r.server.set(configMap("a", "1"))
	time.Sleep(2 * time.Second)
	handler.want(t, "OnAdd a 1 first")
	wantSynced(t, "after the list", true, r, handler)
}

// Neither a list after the first nor the end of the informer changes HasSynced.
func syncedAfterTheEnd(t *testing.T, newInformer New) {
	r := newRig(newInformer, options{}, configMap("a", "1"))
	handler := r.recorder(t)
	r.run(t)
	w := r.server.nextWatch()
	wantSynced(t, "before another list", true, r, handler)
	r.server.relist(w)
	wantSynced(t, "after another list", true, r, handler)
	r.stop()
	wantSynced(t, "after a sync", true, r, handler)

	r = newRig(newInformer, options{})
	release := r.server.hold()
	handler = r.recorder(t)
	r.run(t)
	r.stop()
	wantSynced(t, "without a sync", false, r, handler)
	release()
}
