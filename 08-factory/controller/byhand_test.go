// A worker that compares resource versions itself.

package main

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"example.com/informer/08-factory/controller/notices"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/session/sessiontest"
)

// behind is true while the store does not have the write with this version. A worker for which it
// is true adds its key again, and decides nothing.
func behind(informer cache.SharedIndexInformer, written string) (bool, error) {
	stored := informer.GetStore().LastStoreSyncResourceVersion()
	if stored == "" {
		return true, nil // the store has no list yet, or the gate AtomicFIFO is off
	}
	order, err := resourceversion.CompareResourceVersion(stored, written)
	return order < 0, err
}

func TestAComparisonByHand(t *testing.T) {
	forBoth(t, func(t *testing.T, newInformer notices.NewInformer) {
		s := sessiontest.Open(t)
		secrets := newInformer(cache.NewListWatchFromClient(s.Client.CoreV1().RESTClient(), "secrets", s.Namespace,
			fields.Everything()), &corev1.Secret{}, cache.SharedIndexInformerOptions{})
		must.Run(t, secrets.RunWithContext)

		queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
		t.Cleanup(queue.ShutDown)
		created, err := s.Client.CoreV1().Secrets(s.Namespace).Create(t.Context(),
			&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "token"}}, metav1.CreateOptions{})
		must.NoError(t, err)
		queue.Add(s.Namespace + "/token")
		for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
			key, _ := queue.Get()
			isBehind, err := behind(secrets, created.ResourceVersion)
			must.NoError(t, err)
			if isBehind {
				queue.AddAfter(key, 10*time.Millisecond)
				queue.Done(key)
				continue
			}
			if _, exists, err := secrets.GetStore().GetByKey(key); !exists || err != nil {
				t.Errorf("GetByKey(%s) = %t, %v; want true, nil, because the store is not behind", key, exists, err)
			}
			queue.Done(key)
			return
		}
		t.Error("the store has been behind for a minute")
	})
}
