package classic

import (
	"testing"
	"testing/synctest"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/record"
)

// b waits in the queue as a part of the first list. Meanwhile it is deleted and comes back. What
// came back was not in the first list.
func TestWhatComesBackIsNotInitial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls record.Lines
		store := cache.NewStore(cache.DeletionHandlingMetaNamespaceKeyFunc)
		must.NoError(t, processDeltas(record.Handler(&calls), store, cache.Deltas{
			{Type: cache.Replaced, Object: fakeapi.ConfigMap("b", "1")},
			{Type: cache.Deleted, Object: fakeapi.ConfigMap("b", "2")},
			{Type: cache.Added, Object: fakeapi.ConfigMap("b", "3")},
		}, true))
		calls.Want(t, "OnAdd b 1 first", "OnDelete b 2", "OnAdd b 3")
	})
}
