// Details in which our store has to be the same as client-go's.

package store_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"weak"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/04-indexer/indexer/indexertest"
	"example.com/informer/07-shared-informer/store"
	"example.com/informer/scripts/harness/must"
)

// newStore is an indexertest.New.
func newStore(keyFunc cache.KeyFunc, indexers cache.Indexers) indexertest.Store {
	return store.New(store.Options{KeyFunction: keyFunc, Indexers: indexers})
}

// takeSnapshot is an indexertest.Snapshot.
func takeSnapshot(s indexertest.Store) (list func() []any, version string) {
	snapshot := s.(*store.Store).Snapshot()
	return snapshot.List, snapshot.Version()
}

// FuzzStore does the same to our store and to client-go's, asks both the same questions, and looks
// once more at all snapshots at the end.
func FuzzStore(f *testing.F) { indexertest.Fuzz(f, newStore, takeSnapshot) }

func TestStore(t *testing.T) { indexertest.Run(t, newStore, takeSnapshot) }

// The values of an index can be large. When an object is deleted, or its write fails, its values
// are garbage immediately, and not only after the next write.
func TestTheStoreKeepsNoIndexValuesOfAnObjectThatIsGone(t *testing.T) {
	var values weak.Pointer[string]
	large := func(any) ([]string, error) {
		all := []string{strings.Repeat("x", 1<<20)}
		values = weak.Make(&all[0])
		return all, nil
	}
	picky := func(obj any) ([]string, error) {
		if obj.(*corev1.Pod).ResourceVersion == "7" {
			return nil, errors.New("not version 7")
		}
		return nil, nil
	}
	s := store.New(store.Options{Indexers: cache.Indexers{"large": large}})
	must.NoError(t, s.AddIndexers(cache.Indexers{"picky": picky})) // it is called after the other one
	must.NoError(t, s.Add(indexertest.Pod(1, 1)))
	must.NoError(t, s.Delete(indexertest.Pod(1, 1)))
	runtime.GC()
	if values.Value() != nil {
		t.Error("the values of a deleted object are still in memory")
	}
	if err := s.Add(indexertest.Pod(2, 7)); err == nil {
		t.Fatal("Add() = nil, want the error of the index function")
	}
	runtime.GC()
	if values.Value() != nil {
		t.Error("the values of an object whose Add failed are still in memory")
	}
	runtime.KeepAlive(s)
}
