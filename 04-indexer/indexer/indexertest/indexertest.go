// Package indexertest has tests for stores with indexes: see Run and Fuzz. Most of them do the same
// to a store and to client-go's store, and compare the answers.
package indexertest

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/04-indexer/indexer"
	"example.com/informer/scripts/harness/must"
)

// A Store is a cache.Indexer whose writes return what they have changed.
type Store interface {
	cache.Indexer
	Put(key string, obj any) (old any, err error)
	Remove(key string, last any) (old any)
	ReplaceAll(keys []string, objs []any, version string) (listed, gone []indexer.Change, err error)
	All() iter.Seq2[string, any]
}

// A New makes the store that is tested, empty. It takes what cache.NewIndexer takes.
type New func(cache.KeyFunc, cache.Indexers) Store

// A Snapshot takes a snapshot of a store. It returns the function that lists it, and the version
// that it is as of.
type Snapshot func(Store) (list func() []any, version string)

var tests = []struct {
	name string
	test func(t *testing.T, newStore New)
}{
	{"NilAndEmptyAreAsInClientGo", nilAndEmptyAreAsInClientGo},
	{"ATypedNilChangesNothing", aTypedNilChangesNothing},
	{"TheMapsOfIndexersAreCopied", theMapsOfIndexersAreCopied},
	{"AWriteReturnsWhatItHasChanged", aWriteReturnsWhatItHasChanged},
	{"NothingIsKeptAlive", nothingIsKeptAlive},
}

// Run runs the tests that every store has to pass, each as a subtest. takeSnapshot is nil for a store
// that has no snapshots.
func Run(t *testing.T, newStore New, takeSnapshot Snapshot) {
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { test.test(t, newStore) })
	}
	t.Run("AReaderSeesAStateThatExisted", func(t *testing.T) {
		aReaderSeesAStateThatExisted(t, newStore, takeSnapshot)
	})
}

// Pod returns the pod number i, in one of three namespaces, in a version.
func Pod(i, version int) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns-" + strconv.Itoa(i%3), Name: "pod-" + strconv.Itoa(i), ResourceVersion: strconv.Itoa(version),
	}}
}

// Version returns the version of a pod as a number.
func Version(t testing.TB, obj any) int {
	t.Helper()
	n, err := strconv.Atoi(obj.(*corev1.Pod).ResourceVersion)
	must.NoError(t, err)
	return n
}

// ByNamespace returns an index by namespace.
func ByNamespace() cache.Indexers {
	return cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
}

// PodOfApp returns the pod number i, with the label app.
func PodOfApp(i int, app string) *corev1.Pod {
	p := Pod(i, i)
	p.Labels = map[string]string{"app": app}
	return p
}

// Contents returns everything that a store holds: its version, the addresses of its objects by key,
// and the keys of its indexes by value.
func Contents(s cache.Indexer) map[string]string {
	all := map[string]string{"version": s.LastStoreSyncResourceVersion()}
	for _, obj := range s.List() {
		key, _ := cache.MetaNamespaceKeyFunc(obj)
		all[key] = fmt.Sprintf("the object at %p", obj)
	}
	for name := range s.GetIndexers() {
		for _, value := range s.ListIndexFuncValues(name) {
			keys, err := s.IndexKeys(name, value)
			all[name+"="+value] = fmt.Sprint(keys, err)
		}
	}
	return all
}

// Differences compares the Contents of two stores. It returns a line for each difference.
func Differences(want, got map[string]string) string {
	var all []string
	for name := range sets.KeySet(want).Union(sets.KeySet(got)) {
		if want[name] != got[name] {
			all = append(all, fmt.Sprintf("%s: got %s, want %s",
				name, cmp.Or(got[name], "nothing"), cmp.Or(want[name], "nothing")))
		}
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// WantKeys checks the keys that an index has under a value.
func WantKeys(t testing.TB, index cache.Indexer, name, value string, want ...string) {
	t.Helper()
	got, err := index.IndexKeys(name, value)
	must.NoError(t, err)
	if !slices.Equal(got, want) {
		t.Errorf("IndexKeys(%s, %s) = %q, want %q", name, value, got, want)
	}
}

// Names returns the names of pods, in their order, in one string.
func Names(pods []any) string {
	var all []string
	for _, pod := range pods {
		all = append(all, pod.(*corev1.Pod).Name)
	}
	return strings.Join(all, " ")
}

// Panics calls f, and reports whether it panicked.
func Panics(f func()) (panicked bool) {
	defer func() { panicked = recover() != nil }()
	f()
	return false
}
