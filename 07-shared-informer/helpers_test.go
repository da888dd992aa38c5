// The stores and the checks that the tests of claims about stores share.

package main

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/must"
)

// filled returns a store of client-go's with the pods ns1/pod1 (app l1) and ns2/pod2 (app l2).
func filled(t *testing.T, indexers cache.Indexers) cache.Indexer {
	t.Helper()
	index := cache.NewIndexer(cache.MetaNamespaceKeyFunc, indexers)
	must.Do(t, index.Add(newPod("ns1", "pod1", "l1")))
	must.Do(t, index.Add(newPod("ns2", "pod2", "l2")))
	return index
}

// wantKeys checks the keys that an index has under a value.
func wantKeys(t *testing.T, index cache.Indexer, name, value string, want ...string) {
	t.Helper()
	got, err := index.IndexKeys(name, value)
	must.Do(t, err)
	if !slices.Equal(got, want) {
		t.Errorf("IndexKeys(%s, %s) = %q, want %q", name, value, got, want)
	}
}

// panics calls f, and reports whether it panicked.
func panics(f func()) (panicked bool) {
	defer func() { panicked = recover() != nil }()
	f()
	return false
}

// names returns the names of pods, in their order, in one string.
func names(pods []any) string {
	var all []string
	for _, pod := range pods {
		all = append(all, pod.(*corev1.Pod).Name)
	}
	return strings.Join(all, " ")
}
