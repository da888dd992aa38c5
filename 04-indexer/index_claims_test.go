// What the page docs/04-indexer-a-store-of-our-own.md says about indexes whose
// function does not say the same twice, of client-go's store and of ours.

package main

import (
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/04-indexer/indexer"
	"example.com/informer/04-indexer/store"
	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
)

// Somebody changes the label of a stored pod, and it is deleted. Client-go's index
// goes by the label that the pod has then. So its key stays under the old value:
// the index gives nil, or whatever has that key later.
func TestAnIndexOfAStoredObjectThatSomebodyHasChanged(t *testing.T) {
	byLabel := cache.Indexers{"app": indexer.ByLabel("app")}
	for name, test := range map[string]struct {
		index         cache.Indexer
		deleted, then string
	}{
		"client-go": {cache.NewIndexer(cache.MetaNamespaceKeyFunc, byLabel), "[<nil>]", "web is db"},
		"ours":      {store.New(store.Options{Indexers: byLabel}), "[]", ""},
	} {
		pod := newPod("ns1", "web", "web")
		must.Do(t, test.index.Add(pod))
		pod.Labels["app"] = "mail"
		must.Do(t, test.index.Delete(pod))
		found, err := test.index.ByIndex("app", "web")
		must.Do(t, err)
		got := fmt.Sprint(found)
		expect.That(t, got == test.deleted, "%s: after the delete the index gives %s, want %s", name, got, test.deleted)
		must.Do(t, errors.Join(test.index.Add(newPod("ns1", "payments-db", "db")),
			test.index.Add(newPod("ns1", "web", "db"))))
		found, err = test.index.ByIndex("app", "web")
		must.Do(t, err)
		then := ""
		for _, obj := range found {
			then += obj.(*corev1.Pod).Name + " is " + obj.(*corev1.Pod).Labels["app"]
		}
		expect.That(t, then == test.then, "%s: later the index gives %q, want %q", name, then, test.then)
	}
}

// The index function of a stored object fails: client-go's store panics, and the
// object stays. Ours does not call it.
func TestADeleteCallsNoIndexFunctionOfOurStore(t *testing.T) {
	fails := false
	indexers := cache.Indexers{"app": func(obj any) ([]string, error) {
		if fails {
			return nil, errors.New("not any more")
		}
		return indexer.ByLabel("app")(obj)
	}}
	for name, index := range map[string]cache.Indexer{
		"client-go": cache.NewIndexer(cache.MetaNamespaceKeyFunc, indexers),
		"ours":      store.New(store.Options{Indexers: indexers}),
	} {
		fails = false
		pod := newPod("ns1", "web", "web")
		must.Do(t, index.Add(pod))
		fails = true
		panicked := panics(func() { must.Do(t, index.Delete(pod)) })
		if stays := len(index.List()) == 1; panicked != (name == "client-go") || stays != panicked {
			t.Errorf("%s: the delete panics: %t; the object stays: %t", name, panicked, stays)
		}
	}
}
