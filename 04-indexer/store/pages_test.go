package store

import (
	"slices"
	"strconv"
	"testing"
)

// A store that was large once, and is small now, does not keep its pages.
func TestEmptyPagesAreDropped(t *testing.T) {
	s := New(Options{KeyFunction: func(obj any) (string, error) { return obj.(string), nil }})
	for i := range 3 * pageSize {
		if err := s.Add(strconv.Itoa(i)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 2*pageSize - 1 {
		if err := s.Delete(strconv.Itoa(i)); err != nil {
			t.Fatal(err)
		}
	}
	has := func() (all []bool) {
		for i, keys := range s.keys.table[0].items[:3] {
			objects := s.objects.table[0].items[i]
			if (objects == nil) != (keys == nil) {
				t.Errorf("page %d: keys and objects differ", i)
			}
			all = append(all, objects != nil)
		}
		return all
	}
	if got := has(); !slices.Equal(got, []bool{false, true, true}) || len(s.used.blocks[0].words) != 2 {
		t.Errorf("pages %v, %d words", got, len(s.used.blocks[0].words))
	}
	if got := s.keys.page(1).items[:pageSize-1]; !slices.Equal(got, make([]string, pageSize-1)) {
		t.Errorf("keys that are gone: %q", got)
	}
	for i := range pageSize { // slots that are free are used again, and their pages come back
		if err := s.Add(strconv.Itoa(i)); err != nil {
			t.Fatal(err)
		}
	}
	if got := has(); !slices.Equal(got, []bool{true, true, true}) || s.size != 3*pageSize {
		t.Errorf("pages %v, %d slots", got, s.size)
	}
}
