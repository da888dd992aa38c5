// The state of the store of our informer, and of its indexes.

package recorder

import (
	"container/list"
	"slices"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/06-processor/processor"
	"example.com/informer/07-shared-informer/informer"
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
func (s *storeState) apply(e informer.Stored) {
	if e.Version != "" {
		s.version = e.Version
	}
	known := s.keys.contains(e.Key)
	s.recreated = e.Kind == processor.Added && !known && e.Key == s.lastDeleted
	s.countValues(e.Old, -1)
	if e.Kind == processor.Deleted {
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

// A recentCounter counts texts. However many texts there are, it takes the same time to count one
// more and to read the few that changed last.
type recentCounter struct {
	order    *list.List               // of *countedText; the text that changed last is in front
	elements map[string]*list.Element // by text
}

type countedText struct {
	text  string
	count int // at least 1
}

func newRecentCounter() recentCounter {
	return recentCounter{order: list.New(), elements: map[string]*list.Element{}}
}

func (r recentCounter) size() int { return len(r.elements) }

func (r recentCounter) contains(text string) bool { return r.elements[text] != nil }

// add adds to the count of a text, and moves the text to the front. A text whose count falls to 0
// is removed.
func (r recentCounter) add(text string, by int) {
	if !r.contains(text) {
		r.elements[text] = r.order.PushFront(&countedText{text: text})
	}
	element := r.elements[text]
	r.order.MoveToFront(element)
	counted := element.Value.(*countedText)
	counted.count += by
	if counted.count <= 0 {
		r.order.Remove(element)
		delete(r.elements, text)
	}
}

// newest returns the texts that changed last, at most limit of them.
func (r recentCounter) newest(limit int) (texts []countedText) {
	for e := r.order.Front(); e != nil && len(texts) < limit; e = e.Next() {
		texts = append(texts, *e.Value.(*countedText))
	}
	return texts
}
