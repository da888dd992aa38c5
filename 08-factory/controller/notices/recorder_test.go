package notices

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/events"

	"example.com/informer/scripts/harness/must"
)

// recordTwenty records an Event for each of 20 copies, shuts the recorder down, and returns the
// names of the copies whose Events were written by then. Each write takes some time.
func recordTwenty(t *testing.T, each time.Duration) sets.Set[string] {
	var mu sync.Mutex
	written := sets.New[string]()
	client := fake.NewClientset()
	client.PrependReactor("create", "events", func(action clienttesting.Action) (bool, runtime.Object, error) {
		time.Sleep(each)
		mu.Lock()
		defer mu.Unlock()
		event := action.(clienttesting.CreateAction).GetObject().(*eventsv1.Event)
		written.Insert(event.Related.Name)
		return true, event, nil
	})
	before := must.Goroutines()
	r := newRecorder(t.Context(), client)
	notice := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "picnic"}} // any object will do
	for i := range 20 {
		copied := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: fmt.Sprintf("picnic-%d", i)}}
		r.Eventf(notice, copied, corev1.EventTypeNormal, "Created", "Create", "created a copy")
	}
	r.shutDown()
	must.NoNewGoroutines(t, before)
	mu.Lock()
	defer mu.Unlock()
	return written.Clone()
}

// The Events of the last work are written before the end, and those of two copies are two Events.
func TestEventsAreWrittenBeforeTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		want := sets.New[string]()
		for i := range 20 {
			want.Insert(fmt.Sprintf("picnic-%d", i))
		}
		if diff := cmp.Diff(want, recordTwenty(t, 100*time.Millisecond)); diff != "" {
			t.Errorf("the Events of these copies differ (-want +got):\n%s", diff)
		}
	})
}

// If the API server is too slow, the end does not wait for all Events. This API server does not see
// the end of a context: the end waits for the request in flight.
func TestTheEndWaitsForEventsForFiveSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		written := recordTwenty(t, 2*time.Second)
		if took := time.Since(began); took < 5*time.Second || took > 6*time.Second {
			t.Errorf("the end took %v, want 5 seconds", took)
		}
		if len(written) == 0 || len(written) == 20 {
			t.Errorf("%d Events were written in 5 seconds, want some", len(written))
		}
	})
}

// There are more Events than the queue has room for. The end waits for those that were taken, and not
// for those that are lost.
func TestTheEndDoesNotWaitForLostEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var written atomic.Int64
		client := fake.NewClientset()
		client.PrependReactor("create", "events", func(clienttesting.Action) (bool, runtime.Object, error) {
			time.Sleep(time.Millisecond)
			written.Add(1)
			return true, &eventsv1.Event{}, nil
		})
		r := newRecorder(t.Context(), client)
		notice := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "picnic"}}
		for range 2 * maxUnwritten {
			r.Eventf(notice, nil, corev1.EventTypeNormal, "Created", "Create", "created a copy")
		}
		began := time.Now()
		r.shutDown()
		if took := time.Since(began); took >= 5*time.Second {
			t.Errorf("the end took %v, want the time for %d Events, a millisecond each", took, maxUnwritten)
		}
		if got := written.Load(); got != maxUnwritten && got != maxUnwritten+1 { // the first may have left the queue
			t.Errorf("%d Events were written, want %d, or one more", got, maxUnwritten)
		}
	})
}

// Shutdown of client-go's broadcaster returns while its goroutines have an Event to write.
func TestClientGosShutdownDoesNotWaitForEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var written atomic.Int64
		client := fake.NewClientset()
		client.PrependReactor("create", "events", func(clienttesting.Action) (bool, runtime.Object, error) {
			time.Sleep(time.Second)
			written.Add(1)
			return true, &eventsv1.Event{}, nil
		})
		broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: client.EventsV1()})
		must.NoError(t, broadcaster.StartRecordingToSinkWithContext(t.Context()))
		recorder := broadcaster.NewRecorder(scheme.Scheme, "notices")
		notice := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "picnic"}}
		recorder.Eventf(notice, nil, corev1.EventTypeNormal, "Created", "Create", "created a copy")
		synctest.Wait() // the Event has reached the API server
		broadcaster.Shutdown()
		if written.Load() > 0 {
			t.Error("Shutdown has waited until the Event was written")
		}
		time.Sleep(time.Minute)
		if written.Load() == 0 {
			t.Error("the Event was never written, want it to be written after Shutdown has returned")
		}
	})
}

// Two Events of client-go's recorder about the same objects become one, though their texts differ.
// Two Events with different related objects stay two.
func TestClientGoMergesEventsOfTheSameObjects(t *testing.T) {
	for _, test := range []struct {
		name    string
		related bool
		want    int // how many Events are written
	}{
		{name: "without a related object", want: 1},
		{name: "with a related object", related: true, want: 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			client := fake.NewClientset()
			broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: client.EventsV1()})
			defer broadcaster.Shutdown()
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			must.NoError(t, broadcaster.StartRecordingToSinkWithContext(ctx))
			recorder := broadcaster.NewRecorder(scheme.Scheme, "notices")
			notice := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "picnic"}}
			for _, name := range []string{"picnic-0", "picnic-1"} {
				var related runtime.Object
				if test.related {
					related = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}}
				}
				recorder.Eventf(notice, related, corev1.EventTypeNormal, "Created", "Create", "created %s", name)
				time.Sleep(time.Second)
			}
			written, err := client.EventsV1().Events("ns").List(t.Context(), metav1.ListOptions{})
			must.NoError(t, err)
			if len(written.Items) != test.want {
				t.Errorf("%s: there are %d Events, want %d", test.name, len(written.Items), test.want)
			}
		})
	}
}
