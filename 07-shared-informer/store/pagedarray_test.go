// The pages of a store, and stores of several directories.

package store

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/must"
)

// A store that was large and is small now does not keep empty pages.
func TestEmptyPagesAreDropped(t *testing.T) {
	s := New(Options{KeyFunction: func(obj any) (string, error) { return obj.(string), nil }})
	for i := range 3 * pageSize {
		must.NoError(t, s.Add(strconv.Itoa(i)))
	}
	for i := range 2*pageSize - 1 {
		must.NoError(t, s.Delete(strconv.Itoa(i)))
	}
	wantPages := func(when string, want ...bool) {
		t.Helper()
		var keys, objects []bool // whether each page exists
		for i := range want {
			keys = append(keys, s.keys.table[0].items[i] != nil)
			objects = append(objects, s.objects.table[0].items[i] != nil)
		}
		if !slices.Equal(keys, want) {
			t.Errorf("%s: pages of keys exist: %t, want %t", when, keys, want)
		}
		if !slices.Equal(objects, want) {
			t.Errorf("%s: pages of objects exist: %t, want %t", when, objects, want)
		}
	}
	wantPages("after the deletes", false, true, true)
	if got := len(s.used.blocks[0].words); got != 2 {
		t.Errorf("the set of used slots has %d words, want 2", got)
	}
	deleted := s.keys.page(1).items[:pageSize-1]
	if want := make([]string, pageSize-1); !slices.Equal(deleted, want) {
		t.Errorf("keys of deleted objects are still in the page: %q", deleted)
	}
	for i := range pageSize { // the free slots are used again, and their pages come back
		must.NoError(t, s.Add(strconv.Itoa(i)))
	}
	wantPages("after the adds", true, true, true)
	if s.size != 3*pageSize {
		t.Errorf("%d slots were ever in use, want %d", s.size, 3*pageSize)
	}
}

// The table is a slice. If it has room for one more directory, append does not copy it.
func TestATableThatGrowsAfterASnapshot(t *testing.T) {
	for directories := 1; directories <= 8; directories++ {
		p := pagedArray[string]{counter: &generationCounter{}}
		end := directories * directorySize
		for slot := range end {
			p.set(slot, "old")
		}
		snapshot := p
		p.counter.current++
		p.set(end, "new") // the first slot of one more directory
		p.set(0, "new")
		if got := snapshot.get(0); got != "old" {
			t.Errorf("%d directories, a snapshot, one more directory, a write to slot 0: "+
				"the snapshot has %q in slot 0, want %q", directories, got, "old")
		}
	}
}

// A store of several directories, its index and its snapshots have the same keys as a map.
func TestAStoreOfSeveralDirectories(t *testing.T) {
	s := New(Options{
		KeyFunction: func(obj any) (string, error) { return obj.(string), nil },
		Indexers: cache.Indexers{"last digit": func(obj any) ([]string, error) {
			return []string{lastDigit(obj)}, nil
		}},
	})
	random := rand.New(rand.NewPCG(1, 2))
	model := map[string]bool{}
	type takenSnapshot struct {
		Snapshot
		wantKeys []string
	}
	var snapshots []takenSnapshot
	for i := range 8 * directorySize {
		key := strconv.Itoa(random.IntN(3 * directorySize))
		isAdd := i < 5*directorySize || random.IntN(5) == 0
		if isAdd {
			must.NoError(t, s.Add(key))
			model[key] = true
		} else {
			must.NoError(t, s.Delete(key))
			delete(model, key)
		}
		if i%1000 == 0 {
			keys := slices.Sorted(maps.Keys(model))
			snapshots = append(snapshots, takenSnapshot{s.Snapshot(), keys})
			isNotIndexed := func(key string) bool { return lastDigit(key) != "7" }
			want := slices.DeleteFunc(slices.Clone(keys), isNotIndexed)
			got, err := s.IndexKeys("last digit", "7")
			must.NoError(t, err)
			if !slices.Equal(got, want) {
				t.Fatalf("after %d writes: keys in the index (-want +got):\n%s", i+1, cmp.Diff(want, got))
			}
		}
	}
	for i, snapshot := range snapshots {
		got := slices.Sorted(slices.Values(snapshot.ListKeys()))
		if !slices.Equal(got, snapshot.wantKeys) {
			t.Errorf("keys of snapshot %d (-want +got):\n%s", i, cmp.Diff(snapshot.wantKeys, got))
		}
		for key, obj := range snapshot.All() {
			if obj != any(key) {
				t.Errorf("snapshot %d has the object %q under the key %q, want the same", i, obj, key)
			}
		}
	}
}

func lastDigit(obj any) string {
	key := obj.(string)
	return key[len(key)-1:]
}
