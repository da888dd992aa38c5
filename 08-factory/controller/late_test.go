package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"example.com/informer/scripts/harness/step"
	"example.com/informer/scripts/harness/step/play"
)

// newLateWatch returns a client whose watch sends the create of a Secret half a minute later. At
// first there are no Secrets: the initial list of the watch is empty.
func newLateWatch() *fake.Clientset {
	client := fake.NewClientset()
	created := make(chan *corev1.Secret, 10)
	count := 0 // guarded by the lock of the client
	client.PrependReactor("create", "secrets", func(action clienttesting.Action) (bool, runtime.Object, error) {
		count++
		secret := action.(clienttesting.CreateAction).GetObject().(*corev1.Secret)
		secret.Name = fmt.Sprint(secret.GenerateName, count)
		secret.ResourceVersion = fmt.Sprint(100 + count)
		created <- secret.DeepCopy()
		return false, nil, nil // the client stores it
	})
	client.PrependWatchReactor("secrets", func(clienttesting.Action) (bool, watch.Interface, error) {
		events := make(chan watch.Event)
		w := watch.NewProxyWatcher(events)
		endOfList := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
			ResourceVersion: "100", Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"},
		}}
		go func() {
			defer close(events)
			events <- watch.Event{Type: watch.Bookmark, Object: endOfList}
			for {
				select {
				case secret := <-created:
					time.Sleep(30 * time.Second)
					select {
					case events <- watch.Event{Type: watch.Added, Object: secret}:
					case <-w.StopChan():
						return
					}
				case <-w.StopChan():
					return
				}
			}
		}()
		return true, w, nil
	})
	return client
}

// However late the event of its own write is, the step version does not write once more.
func TestVersionWaitsForItsOwnWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		env := &step.Env{Env: &play.Env{Out: &out}, Client: newLateWatch(), Namespace: "ns"}
		if err := stepVersion(t.Context(), env); err != nil {
			t.Error(err)
		}
		want := []string{
			"reconcile 1 : the cache has 0",
			"reconcile 1 : created one",
			"reconcile 2 : the cache has 1",
			"the API server has 1, 1 was wanted",
		}
		if got := strings.Split(strings.TrimSpace(out.String()), "\n"); !slices.Equal(got, want) {
			t.Errorf("the step printed\n%s\nwant\n%s", &out, strings.Join(want, "\n"))
		}
	})
}
