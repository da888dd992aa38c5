// What a write returns.

package indexertest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/04-indexer/indexer"
	"example.com/informer/scripts/harness/must"
)

// Random writes are made to a store, and to a map. The store must return the changes of the map, and
// hold what the map holds. What All has yielded must stay as it was at its call.
func aWriteReturnsWhatItHasChanged(t *testing.T, newStore New) {
	s := newStore(cache.MetaNamespaceKeyFunc, nil)
	random := rand.New(rand.NewPCG(5, 6))
	model := map[string]any{}
	for version := range 3000 {
		all, before := s.All(), maps.Clone(model)
		var wrote string
		switch key := fmt.Sprint("key-", random.IntN(6)); random.IntN(8) {
		case 0:
			wrote = "ReplaceAll"
			replaceAll(t, s, model, random, version)
		case 1, 2:
			wrote = "Remove"
			if got, want := s.Remove(key, Pod(1, version)), model[key]; got != want {
				t.Fatalf("Remove(%s) = %v, want %v", key, got, want)
			}
			delete(model, key)
		default:
			wrote = "Put"
			obj := Pod(1, version)
			got, err := s.Put(key, obj)
			if want := model[key]; got != want || err != nil {
				t.Fatalf("Put(%s) = %v, %v; want %v, nil", key, got, err, want)
			}
			model[key] = obj
		}
		if got := maps.Collect(all); !maps.Equal(got, before) {
			t.Fatalf("All() before %s yields %v after it, want %v", wrote, got, before)
		}
		if got := maps.Collect(s.All()); !maps.Equal(got, model) {
			t.Fatalf("All() yields %v after %s, want %v", got, wrote, model)
		}
		if got, want := s.LastStoreSyncResourceVersion(), fmt.Sprint(version); got != want {
			t.Fatalf("LastStoreSyncResourceVersion() = %q after %s, want %q", got, wrote, want)
		}
	}
}

// replaceAll replaces the contents by a random list, in which a key may be twice.
func replaceAll(t *testing.T, s Store, model map[string]any, random *rand.Rand, version int) {
	t.Helper()
	var keys []string
	var objs []any
	next := map[string]any{}
	for range random.IntN(8) {
		key, obj := fmt.Sprint("key-", random.IntN(6)), any(Pod(1, version))
		keys, objs = append(keys, key), append(objs, obj)
		next[key] = obj
	}
	var wantListed, wantGone []indexer.Change
	for i, key := range keys {
		if slices.Index(keys, key) == i {
			wantListed = append(wantListed, indexer.Change{Key: key, Old: model[key], New: next[key]})
		}
	}
	for key, old := range model {
		if next[key] == nil {
			wantGone = append(wantGone, indexer.Change{Key: key, Old: old})
		}
	}
	listed, gone, err := s.ReplaceAll(keys, objs, fmt.Sprint(version))
	byKey := func(a, b indexer.Change) int { return strings.Compare(a.Key, b.Key) }
	slices.SortFunc(gone, byKey)
	slices.SortFunc(wantGone, byKey)
	must.NoError(t, err)
	if !slices.Equal(listed, wantListed) || !slices.Equal(gone, wantGone) {
		t.Fatalf("ReplaceAll(%q) = %v, %v; want %v, %v", keys, listed, gone, wantListed, wantGone)
	}
	clear(model)
	maps.Copy(model, next)
}
