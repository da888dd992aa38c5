package store_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/04-indexer/store"
)

// FuzzStore does the same to our store and to client-go's, asks both the same
// questions, and looks once more at all snapshots at the end.
func FuzzStore(f *testing.F) {
	f.Add([]byte{0, 1, 0, 2, 1, 1, 2, 1, 5, 0, 0, 3, 3, 9})
	f.Add([]byte("add, add, take a snapshot, delete; and whatever these letters stand for"))
	f.Add([]byte{6, 1, 0, 14, 0, 14, 0, 14, 0, 14, 0, 14, 0, 14, 2, 14, 2, 14, 2, 14}) // pods move in an index, and go
	f.Add(slices.Repeat([]byte{0, 7, 0, 21, 5, 0, 2, 7, 4, 4}, 40))
	f.Fuzz(func(t *testing.T, input []byte) {
		theirs := cache.NewIndexer(cache.MetaNamespaceKeyFunc, byNamespace())
		ours := store.New(store.Options{KeyFunction: cache.MetaNamespaceKeyFunc, Indexers: byNamespace()})
		both := func(do func(cache.Indexer) error) {
			if a, b := do(theirs), do(ours); (a == nil) != (b == nil) {
				t.Fatalf("client-go's error is %v, ours %v", a, b)
			}
		}
		type memory struct {
			store.Snapshot
			want []string
		}
		var memories []memory
		for at := 0; at+1 < len(input); at += 2 {
			number := int(input[at+1]) + 256*(at/2%3)
			obj := objectOf(number, at)
			switch input[at] % 7 {
			case 0, 1:
				both(func(s cache.Indexer) error { return s.Update(obj) })
			case 2:
				both(func(s cache.Indexer) error { return s.Delete(obj) })
			case 3:
				var list []any
				for i := range number {
					list = append(list, objectOf(5*i%700, at))
				}
				both(func(s cache.Indexer) error { return s.Replace(slices.Clone(list), strconv.Itoa(at)) })
			case 4:
				both(func(s cache.Indexer) error { s.Bookmark(strconv.Itoa(at)); return nil })
			case 5:
				memories = append(memories, memory{ours.Snapshot(), versionsOf(theirs.List())})
			case 6:
				both(func(s cache.Indexer) error {
					return s.AddIndexers(cache.Indexers{fmt.Sprint("labels", number%2): valuesOf})
				})
			}
			compare(t, theirs, ours, obj)
		}
		for _, m := range memories {
			if got := versionsOf(m.List()); !slices.Equal(got, m.want) {
				t.Errorf("a snapshot has\n%v\nand it was taken of\n%v", got, m.want)
			}
		}
	})
}

// objectOf is one of many pods, which fill several pages, in 3 namespaces, with
// one of several labels.
func objectOf(number, version int) *corev1.Pod {
	p := pod(number, version)
	p.Labels = map[string]string{"values": "abcabc"[version%4:][:number/7%3]}
	return p
}

// valuesOf gives up to three values: the letters of a label, some of them twice.
func valuesOf(obj any) (values []string, err error) {
	for _, letter := range obj.(*corev1.Pod).Labels["values"] {
		values = append(values, string(letter))
	}
	return values, nil
}

func compare(t *testing.T, theirs, ours cache.Indexer, obj any) {
	t.Helper()
	if a, b := contents(theirs), contents(ours); !maps.Equal(a, b) {
		t.Fatalf("client-go's:\n%v\nours:\n%v", a, b)
	}
	for name, ask := range map[string]func(cache.Indexer) any{
		"keys":    func(s cache.Indexer) any { return slices.Sorted(slices.Values(s.ListKeys())) },
		"objects": func(s cache.Indexer) any { return versionsOf(s.List()) },
		"get": func(s cache.Indexer) any {
			item, exists, err := s.Get(obj)
			return fmt.Sprintf("%p %v %v", item, exists, err)
		},
		"by index": func(s cache.Indexer) any {
			list, err := s.ByIndex(cache.NamespaceIndex, "ns-1")
			return fmt.Sprint(versionsOf(list), err)
		},
		"index": func(s cache.Indexer) any {
			list, err := s.Index("labels1", obj)
			return fmt.Sprint(versionsOf(list), err)
		},
		"no such index": func(s cache.Indexer) any {
			list, err := s.ByIndex("none", "a")
			keys, keysErr := s.IndexKeys("none", "a")
			return fmt.Sprint(list, err, keys, keysErr, s.ListIndexFuncValues("none"))
		},
	} {
		if a, b := fmt.Sprint(ask(theirs)), fmt.Sprint(ask(ours)); a != b {
			t.Fatalf("%s: client-go's store answers %s, ours %s", name, a, b)
		}
	}
}

// versionsOf are names and versions, sorted.
func versionsOf(objs []any) (all []string) {
	for _, obj := range objs {
		p := obj.(*corev1.Pod)
		all = append(all, p.Namespace+"/"+p.Name+"@"+p.ResourceVersion)
	}
	slices.Sort(all)
	return all
}
