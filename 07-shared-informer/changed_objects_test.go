// Claims of the page docs/07-shared-informer-store.md about index functions that return other
// values when they are called again, for client-go's store and for ours.

package main

import (
	"errors"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/04-indexer/indexer"
	"example.com/informer/04-indexer/indexer/indexertest"
	"example.com/informer/07-shared-informer/store"
	"example.com/informer/scripts/harness/must"
)

// Somebody changes the label of a stored pod, and the pod is deleted. client-go's index uses the
// new label. So the key of the pod stays under the old value: the index returns nil, or another
// object that gets this key later.
func TestAnIndexOfAStoredObjectThatSomebodyHasChanged(t *testing.T) {
	byLabel := cache.Indexers{"app": indexer.ByLabel("app")}
	for name, test := range map[string]struct {
		index            cache.Indexer
		wantAfterDelete  []any    // the objects under the old value
		wantAfterNextAdd []string // the names and labels of the objects under the old value
	}{
		"client-go": {
			index:            cache.NewIndexer(cache.MetaNamespaceKeyFunc, byLabel),
			wantAfterDelete:  []any{nil},
			wantAfterNextAdd: []string{"web has the label db"},
		},
		"ours": {index: store.New(store.Options{Indexers: byLabel})},
	} {
		pod := newPod("ns1", "web", "web")
		must.NoError(t, test.index.Add(pod))
		pod.Labels["app"] = "mail"
		must.NoError(t, test.index.Delete(pod))
		found, err := test.index.ByIndex("app", "web")
		must.NoError(t, err)
		if !slices.Equal(found, test.wantAfterDelete) {
			t.Errorf("%s: after the delete, ByIndex(app, web) = %v, want %v", name, found, test.wantAfterDelete)
		}

		must.NoError(t, test.index.Add(newPod("ns1", "payments-db", "db")))
		must.NoError(t, test.index.Add(newPod("ns1", "web", "db")))
		found, err = test.index.ByIndex("app", "web")
		must.NoError(t, err)
		var got []string
		for _, obj := range found {
			pod := obj.(*corev1.Pod)
			got = append(got, pod.Name+" has the label "+pod.Labels["app"])
		}
		if !slices.Equal(got, test.wantAfterNextAdd) {
			t.Errorf("%s: after the next Add, ByIndex(app, web) = %q, want %q", name, got, test.wantAfterNextAdd)
		}
	}
}

// The index function fails for a stored object. On a delete, client-go's store panics, and keeps
// the object. Our store does not call the function.
func TestADeleteCallsNoIndexFunctionOfOurStore(t *testing.T) {
	fails := false
	indexers := cache.Indexers{"app": func(obj any) ([]string, error) {
		if fails {
			return nil, errors.New("not any more")
		}
		return indexer.ByLabel("app")(obj)
	}}
	for _, test := range []struct {
		name      string
		index     cache.Indexer
		wantPanic bool
		wantLeft  int // objects in the store after the delete
	}{
		{
			name: "client-go", index: cache.NewIndexer(cache.MetaNamespaceKeyFunc, indexers),
			wantPanic: true, wantLeft: 1,
		},
		{name: "ours", index: store.New(store.Options{Indexers: indexers}), wantPanic: false, wantLeft: 0},
	} {
		fails = false
		pod := newPod("ns1", "web", "web")
		must.NoError(t, test.index.Add(pod))
		fails = true
		panicked := indexertest.Panics(func() { must.NoError(t, test.index.Delete(pod)) })
		if panicked != test.wantPanic {
			t.Errorf("%s: Delete panics: %t, want %t", test.name, panicked, test.wantPanic)
		}
		if left := len(test.index.List()); left != test.wantLeft {
			t.Errorf("%s: %d objects after Delete, want %d", test.name, left, test.wantLeft)
		}
	}
}
