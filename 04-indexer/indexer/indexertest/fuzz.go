// Random operations on a store and on client-go's. Both must have the same contents.

package indexertest

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// The operations of a script.
const (
	opUpdate    = iota
	opUpdateToo // so that there are more updates than deletes
	opDelete
	opReplace
	opBookmark
	opSnapshot
	opAddIndexers
	numOps
)

// Fuzz reads its input as a script: each two bytes are an operation and its argument. It carries
// out the operations on our store and on client-go's, and compares the two stores after each
// operation. If our store has snapshots, it takes them, and at the end it compares them with the
// contents that client-go's store had when they were taken.
func Fuzz(f *testing.F, newStore New, takeSnapshot Snapshot) {
	f.Helper()
	f.Add([]byte{0, 1, 0, 2, 1, 1, 2, 1, 5, 0, 0, 3, 3, 9})
	f.Add([]byte("add, add, take a snapshot, delete; and whatever these letters stand for"))
	f.Add([]byte{6, 1, 0, 14, 0, 14, 0, 14, 0, 14, 0, 14, 0, 14, 2, 14, 2, 14, 2, 14}) // pods move in an index, and go
	f.Add(slices.Repeat([]byte{0, 7, 0, 21, 5, 0, 2, 7, 4, 4}, 40))
	f.Fuzz(func(t *testing.T, input []byte) {
		theirs := cache.NewIndexer(cache.MetaNamespaceKeyFunc, ByNamespace())
		ours := newStore(cache.MetaNamespaceKeyFunc, ByNamespace())
		both := func(do func(cache.Indexer) error) {
			if a, b := do(theirs), do(ours); (a == nil) != (b == nil) {
				t.Fatalf("client-go's error is %v, ours %v", a, b)
			}
		}
		type takenSnapshot struct {
			list func() []any
			want []string
		}
		var snapshots []takenSnapshot
		for at := 0; at+1 < len(input); at += 2 {
			number := int(input[at+1]) + 256*(at/2%3)
			obj := objectOf(number, at)
			switch input[at] % numOps {
			case opUpdate, opUpdateToo:
				both(func(s cache.Indexer) error { return s.Update(obj) })
			case opDelete:
				both(func(s cache.Indexer) error { return s.Delete(obj) })
			case opReplace:
				var list []any
				for i := range number {
					list = append(list, objectOf(5*i%700, at))
				}
				both(func(s cache.Indexer) error { return s.Replace(slices.Clone(list), strconv.Itoa(at)) })
			case opBookmark:
				both(func(s cache.Indexer) error {
					s.Bookmark(strconv.Itoa(at))
					return nil
				})
			case opSnapshot:
				if takeSnapshot != nil {
					list, _ := takeSnapshot(ours)
					snapshots = append(snapshots, takenSnapshot{list, namesAndVersions(theirs.List())})
				}
			case opAddIndexers:
				both(func(s cache.Indexer) error {
					return s.AddIndexers(cache.Indexers{fmt.Sprint("labels", number%2): valuesOf})
				})
			}
			compareStores(t, theirs, ours, obj)
		}
		for i, snapshot := range snapshots {
			if got := namesAndVersions(snapshot.list()); !slices.Equal(got, snapshot.want) {
				t.Errorf("snapshot %d has changed (-want +got):\n%s", i, cmp.Diff(snapshot.want, got))
			}
		}
	})
}

// objectOf returns the pod with a number, in a version. There are enough pods for several pages, in
// 3 namespaces, with one of several labels.
func objectOf(number, version int) *corev1.Pod {
	p := Pod(number, version)
	p.Labels = map[string]string{"values": "abcabc"[version%4:][:number/7%3]}
	return p
}

// valuesOf is an index function. It returns the letters of a label, some of them twice.
func valuesOf(obj any) (values []string, err error) {
	for _, letter := range obj.(*corev1.Pod).Labels["values"] {
		values = append(values, string(letter))
	}
	return values, nil
}

// compareStores compares the contents of both stores, and the answers to some reads.
func compareStores(t *testing.T, theirs, ours cache.Indexer, obj any) {
	t.Helper()
	if differences := Differences(Contents(theirs), Contents(ours)); differences != "" {
		t.Fatalf("our store has not what client-go's has:\n%s", differences)
	}
	for name, read := range map[string]func(cache.Indexer) any{
		"keys":    func(s cache.Indexer) any { return slices.Sorted(slices.Values(s.ListKeys())) },
		"objects": func(s cache.Indexer) any { return namesAndVersions(s.List()) },
		"get": func(s cache.Indexer) any {
			item, exists, err := s.Get(obj)
			return fmt.Sprintf("%p %v %v", item, exists, err)
		},
		"by index": func(s cache.Indexer) any {
			list, err := s.ByIndex(cache.NamespaceIndex, "ns-1")
			return fmt.Sprint(namesAndVersions(list), err)
		},
		"index": func(s cache.Indexer) any {
			list, err := s.Index("labels1", obj)
			return fmt.Sprint(namesAndVersions(list), err)
		},
		"no such index": func(s cache.Indexer) any {
			list, err := s.ByIndex("none", "a")
			keys, keysErr := s.IndexKeys("none", "a")
			return fmt.Sprint(list, err, keys, keysErr, s.ListIndexFuncValues("none"))
		},
	} {
		if want, got := fmt.Sprint(read(theirs)), fmt.Sprint(read(ours)); got != want {
			t.Fatalf("%s: our store returns %s, client-go's %s", name, got, want)
		}
	}
}

// namesAndVersions returns the keys and the versions of pods, sorted.
func namesAndVersions(objs []any) (all []string) {
	for _, obj := range objs {
		p := obj.(*corev1.Pod)
		all = append(all, p.Namespace+"/"+p.Name+"@"+p.ResourceVersion)
	}
	slices.Sort(all)
	return all
}
