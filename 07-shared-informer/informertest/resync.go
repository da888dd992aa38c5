// Resyncs.

package informertest

import (
	"testing"
	"time"

	"k8s.io/client-go/tools/cache"
)

// "it does not add any interactions with the authoritative storage"
func resyncMakesNoRequest(t *testing.T, newInformer New) {
	r := newRig(newInformer, options{resync: time.Second}, configMap("a", "1"), configMap("b", "1"))
	handler := r.recorder(t)
	r.run(t)
	handler.take()
	time.Sleep(60 * time.Second)
	if n := len(handler.take()); n != 120 {
		t.Errorf("%d calls in a minute, want 120: one a second for each object", n)
	}
	r.wantRequests(t, 1, 1)
}

func resyncIsOfWhatIsStored(t *testing.T, newInformer New) {
	r := newRig(newInformer, options{resync: time.Second}, configMap("a", "1"), configMap("b", "1"))
	handler := r.recorder(t)
	r.run(t)
	w := r.server.nextWatch()
	w.Delete(configMap("a", "2"))
	w.Modify(configMap("b", "3"))
	handler.take()
	time.Sleep(time.Second)
	handler.want(t, "OnUpdate b 3, was 3")
}

// A resync is for the handlers that are due. A change is for all handlers.
func unchangedObjectsGoToHandlersThatWereDue(t *testing.T, newInformer New) {
	r := newRig(newInformer, options{resync: 2 * time.Second}, configMap("a", "1"), configMap("b", "1"))
	due, never, seldom := r.recorder(t), r.recorderWithPeriod(t, 0), r.recorderWithPeriod(t, time.Hour)
	r.run(t)
	time.Sleep(2 * time.Second)
	for _, c := range []*recorder{due, never, seldom} {
		c.take()
	}
	r.server.relist(r.server.nextWatch(), configMap("a", "1"), configMap("b", "2"))
	due.wantSorted(t, "OnUpdate a 1, was 1", "OnUpdate b 2, was 1")
	never.want(t, "OnUpdate b 2, was 1")
	seldom.want(t, "OnUpdate b 2, was 1")
}

func oldStateAfterASkippedResync(t *testing.T, newInformer New) {
	r := newRig(newInformer, options{resync: time.Second}, configMap("a", "1"))
	never := r.recorderWithPeriod(t, 0)
	r.run(t)
	time.Sleep(10 * time.Second)
	r.server.nextWatch().Modify(configMap("a", "2"))
	never.want(t, "OnAdd a 1 first", "OnUpdate a 2, was 1")
}

func ownResyncPeriod(t *testing.T, newInformer New) {
	r := newRig(newInformer, options{resync: 5 * time.Second}, configMap("a", "1"))
	var calls lines
	start := time.Now()
	_, err := r.AddEventHandlerWithResyncPeriod(cache.ResourceEventHandlerFuncs{UpdateFunc: func(any, any) {
		calls.add("%v", time.Since(start))
	}}, 3*time.Second)
	noError(t, err)
	r.run(t)
	time.Sleep(10 * time.Second)
	calls.want(t, "3s", "6s", "9s")
}
