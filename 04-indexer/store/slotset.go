// Sets of slots.

package store

import (
	"iter"
	"math/bits"
	"slices"
	"sort"
)

const wordSize = 64

// A slotSet has a bit for each slot of a page, for the pages that it has slots
// of. It is copied and changed as pages are.
type slotSet struct {
	generation uint64
	count      int
	chunks     []chunk // in the order of their pages
}

type chunk struct {
	page int
	bits [pageSize / wordSize]uint64 // one of them at least is not 0
}

// add adds a slot.
func (s *slotSet) add(generation uint64, slot int) {
	s.own(generation)
	at, ok := s.find(slot)
	if !ok {
		s.chunks = slices.Insert(s.chunks, at, chunk{page: slot / pageSize})
	}
	if word, bit := s.chunks[at].bit(slot); *word&bit == 0 {
		*word |= bit
		s.count++
	}
}

// remove removes a slot. Last is true if there is none left of its page.
func (s *slotSet) remove(generation uint64, slot int) (last bool) {
	s.own(generation)
	at, ok := s.find(slot)
	if !ok {
		return false
	}
	if word, bit := s.chunks[at].bit(slot); *word&bit != 0 {
		*word &^= bit
		s.count--
	}
	if last = s.chunks[at].bits == (chunk{}).bits; last {
		s.chunks = slices.Delete(s.chunks, at, at+1)
	}
	return last
}

func (s *slotSet) own(generation uint64) {
	if s.generation != generation {
		s.chunks, s.generation = slices.Clone(s.chunks), generation
	}
}

// find returns where the chunk with a slot is, or has to be.
func (s *slotSet) find(slot int) (at int, ok bool) {
	page := slot / pageSize
	at = sort.Search(len(s.chunks), func(i int) bool { return s.chunks[i].page >= page })
	return at, at < len(s.chunks) && s.chunks[at].page == page
}

// bit returns the word with the bit of a slot, and the bit.
func (c *chunk) bit(slot int) (word *uint64, bit uint64) {
	return &c.bits[slot%pageSize/wordSize], 1 << (slot % wordSize)
}

// all gives the slots in order.
func (s *slotSet) all() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range s.chunks {
			for w, word := range s.chunks[i].bits {
				for ; word != 0; word &= word - 1 { // takes the lowest bit away
					if !yield(s.chunks[i].page*pageSize + w*wordSize + bits.TrailingZeros64(word)) {
						return
					}
				}
			}
		}
	}
}

// collect returns what is in these slots, in order.
func collect[T any](s *slotSet, p *pages[T]) []T {
	list := make([]T, 0, s.count)
	for i := range s.chunks {
		c := &s.chunks[i]
		items := &p.table[c.page].items
		for w, word := range c.bits {
			for ; word != 0; word &= word - 1 {
				list = append(list, items[w*wordSize+bits.TrailingZeros64(word)])
			}
		}
	}
	return list
}
