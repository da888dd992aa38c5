// The state of the store of our informer, and of its indexes.

package recorder

import (
	"slices"

	"k8s.io/client-go/tools/cache"
)

const (
	maxShownKeys   = 50
	maxShownValues = 6 // of each index
)

// A storeState has no objects, only their keys and the values of the indexes.
type storeState struct {
	indexers cache.Indexers
	version  string
	keys     recentCounter            // each is there once
	indexes  map[string]recentCounter // the values of each index, and how many objects have a value

	lastDeleted string // the key that was deleted last
	recreated   bool   // the last change was an add of that key
}

func newStoreState(indexers cache.Indexers) storeState {
	s := storeState{indexers: indexers, keys: newRecentCounter(), indexes: map[string]recentCounter{}}
	for name := range indexers {
		s.indexes[name] = newRecentCounter()
	}
	return s
}

// apply applies a change that was stored.
func (s *storeState) apply(e *event) {
	if e.Version != "" {
		s.version = e.Version
	}
	known := s.keys.contains(e.Key)
	s.recreated = e.Type == "ADDED" && !known && e.Key == s.lastDeleted
	s.countValues(e.Old, -1)
	if e.Type == "DELETED" {
		s.lastDeleted = e.Key
		s.keys.add(e.Key, -1)
		return
	}
	if known {
		s.keys.add(e.Key, 0)
	} else {
		s.keys.add(e.Key, 1)
	}
	s.countValues(e.New, 1)
}

// countValues adds to the count of each value that the indexes have for an object. A value counts
// once for an object.
func (s *storeState) countValues(obj any, by int) {
	if obj == nil {
		return
	}
	for name, indexFunc := range s.indexers {
		values, _ := indexFunc(obj) // the store has reported the error
		for _, value := range slices.Compact(slices.Sorted(slices.Values(values))) {
			s.indexes[name].add(clip(value), by)
		}
	}
}

// A storeView is the store as the page shows it: the keys and values that changed last.
type storeView struct {
	Objects int                       `json:"objects"`
	Version string                    `json:"version"`
	Keys    []string                  `json:"keys"`
	Indexes map[string]map[string]int `json:"indexes"` // by index: a value, and how many objects have it
	Values  map[string]int            `json:"values"`  // by index: how many values there are
}

func (s *storeState) station() storeView {
	v := storeView{
		Objects: s.keys.size(), Version: s.version, Keys: []string{},
		Indexes: map[string]map[string]int{}, Values: map[string]int{},
	}
	for _, key := range s.keys.newest(maxShownKeys) {
		v.Keys = append(v.Keys, key.text)
	}
	for name, values := range s.indexes {
		v.Values[name] = values.size()
		v.Indexes[name] = map[string]int{}
		for _, value := range values.newest(maxShownValues) {
			v.Indexes[name][value.text] = value.count
		}
	}
	return v
}
