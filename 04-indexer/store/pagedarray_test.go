package store

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
)

// A store that was large once, and is small now, does not keep its pages.
func TestEmptyPagesAreDropped(t *testing.T) {
	s := New(Options{KeyFunction: func(obj any) (string, error) { return obj.(string), nil }})
	for i := range 3 * pageSize {
		must.Do(t, s.Add(strconv.Itoa(i)))
	}
	for i := range 2*pageSize - 1 {
		must.Do(t, s.Delete(strconv.Itoa(i)))
	}
	has := func() (all []bool) {
		for i, keys := range s.keys.table[0].items[:3] {
			objects := s.objects.table[0].items[i]
			expect.That(t, (objects == nil) == (keys == nil), "page %d: keys and objects differ", i)
			all = append(all, objects != nil)
		}
		return all
	}
	if got := has(); !slices.Equal(got, []bool{false, true, true}) || len(s.used.blocks[0].words) != 2 {
		t.Errorf("pages %v, %d words", got, len(s.used.blocks[0].words))
	}
	got := s.keys.page(1).items[:pageSize-1]
	expect.That(t, slices.Equal(got, make([]string, pageSize-1)), "keys that are gone: %q", got)
	for i := range pageSize { // slots that are free are used again, and their pages come back
		must.Do(t, s.Add(strconv.Itoa(i)))
	}
	if got := has(); !slices.Equal(got, []bool{true, true, true}) || s.size != 3*pageSize {
		t.Errorf("pages %v, %d slots", got, s.size)
	}
}

// A store of several directories, beside a map, and snapshots of it.
func TestAStoreOfSeveralDirectories(t *testing.T) {
	s := New(Options{
		KeyFunction: func(obj any) (string, error) { return obj.(string), nil },
		Indexers: cache.Indexers{"last digit": func(obj any) ([]string, error) {
			return []string{lastDigit(obj)}, nil
		}},
	})
	random, model := rand.New(rand.NewPCG(1, 2)), map[string]bool{}
	type memory struct {
		snapshot Snapshot
		want     []string
	}
	var memories []memory
	for i := range 8 * directorySize {
		key := strconv.Itoa(random.IntN(3 * directorySize))
		if model[key] = i < 5*directorySize || random.IntN(5) == 0; model[key] {
			must.Do(t, s.Add(key))
		} else {
			must.Do(t, s.Delete(key))
			delete(model, key)
		}
		if i%1000 == 0 {
			memories = append(memories, memory{s.Snapshot(), slices.Sorted(maps.Keys(model))})
			var want []string
			for _, key := range memories[len(memories)-1].want {
				if lastDigit(key) == "7" {
					want = append(want, key)
				}
			}
			if got, err := s.IndexKeys("last digit", "7"); !slices.Equal(got, want) || err != nil {
				t.Fatalf("after %d writes the index has %d keys, error %v; want %d", i+1, len(got), err, len(want))
			}
		}
	}
	for i, m := range memories {
		got := slices.Sorted(slices.Values(m.snapshot.ListKeys()))
		expect.That(t, slices.Equal(got, m.want), "snapshot %d has %d keys, want %d", i, len(got), len(m.want))
		for key, obj := range m.snapshot.All() {
			expect.That(t, obj == any(key), "snapshot %d: %q has the key %q", i, obj, key)
		}
	}
}

func lastDigit(obj any) string { key := obj.(string); return key[len(key)-1:] }
