package notices

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"example.com/informer/scripts/harness/must"
)

// recordTwenty records an Event for each of 20 copies, shuts the recorder down, and returns the
// names of the copies whose Events were written. Each write takes some time.
func recordTwenty(t *testing.T, each time.Duration) sets.Set[string] {
	client := fake.NewClientset()
	client.PrependReactor("create", "events", func(clienttesting.Action) (bool, runtime.Object, error) {
		time.Sleep(each)
		return false, nil, nil
	})
	r, err := newRecorder(t.Context(), client)
	must.Do(t, err)
	notice := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "picnic"}} // any object will do
	for i := range 20 {
		copied := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: fmt.Sprintf("picnic-%d", i)}}
		r.Eventf(notice, copied, corev1.EventTypeNormal, "Created", "Create", "created a copy")
	}
	r.shutDown(t.Context())
	written, err := client.EventsV1().Events("ns").List(t.Context(), metav1.ListOptions{})
	must.Do(t, err)
	names := sets.New[string]()
	for _, event := range written.Items {
		names.Insert(event.Related.Name)
	}
	return names
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

// If the API server is too slow, the end does not wait for all Events.
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
