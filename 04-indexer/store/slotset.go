// Sets of slots.

package store

import (
	"iter"
	"math/bits"
	"slices"
	"sort"
)

// A slotSet has a word of 64 bits for each page that it has slots of: a bit for
// each slot. It is copied and changed as pages are. Its blocks are what
// directories are for pages.
type slotSet struct {
	generation uint64 // of blocks
	count      int
	blocks     []block // in order
}

// A block has the words of the pages of one directory.
type block struct {
	generation uint64 // of words
	directory  int
	pages      uint64   // a bit for each page that has a word
	words      []uint64 // in the order of pages; none is 0
}

// add adds a slot.
func (s *slotSet) add(generation uint64, slot int) {
	i, ok := s.find(generation, slot)
	if !ok {
		s.blocks = slices.Insert(s.blocks, i, block{generation: generation, directory: slot / directorySize})
	}
	b := &s.blocks[i]
	page, at := b.find(generation, slot)
	if b.pages&page == 0 {
		b.pages |= page
		b.words = slices.Insert(b.words, at, 0)
	}
	if bit := uint64(1) << (slot % pageSize); b.words[at]&bit == 0 {
		b.words[at] |= bit
		s.count++
	}
}

// remove removes a slot. Last is true if there is none left of its page.
func (s *slotSet) remove(generation uint64, slot int) (last bool) {
	i, ok := s.find(generation, slot)
	if !ok {
		return false
	}
	b := &s.blocks[i]
	page, at := b.find(generation, slot)
	bit := uint64(1) << (slot % pageSize)
	if b.pages&page == 0 || b.words[at]&bit == 0 {
		return false
	}
	b.words[at] &^= bit
	s.count--
	if b.words[at] != 0 {
		return false
	}
	b.pages &^= page
	b.words = slices.Delete(b.words, at, at+1)
	if b.pages == 0 {
		s.blocks = slices.Delete(s.blocks, i, i+1)
	}
	return true
}

// find returns where the block with a slot is, or has to be. Nobody else has the
// blocks from then on.
func (s *slotSet) find(generation uint64, slot int) (i int, ok bool) {
	if s.generation != generation {
		s.blocks, s.generation = slices.Clone(s.blocks), generation
	}
	directory := slot / directorySize
	i = sort.Search(len(s.blocks), func(i int) bool { return s.blocks[i].directory >= directory })
	return i, i < len(s.blocks) && s.blocks[i].directory == directory
}

// find returns the bit of the page with a slot, and where its word is, or has to
// be. Nobody else has the words from then on.
func (b *block) find(generation uint64, slot int) (page uint64, at int) {
	if b.generation != generation {
		b.words, b.generation = slices.Clone(b.words), generation
	}
	page = 1 << (slot / pageSize % pageSize)
	return page, bits.OnesCount64(b.pages & (page - 1)) // the pages before it
}

// all gives the slots in order.
func (s *slotSet) all() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range s.blocks {
			pages := s.blocks[i].pages
			for _, word := range s.blocks[i].words {
				first := s.blocks[i].directory*directorySize + bits.TrailingZeros64(pages)*pageSize
				pages &= pages - 1 // takes the lowest bit away
				for ; word != 0; word &= word - 1 {
					if !yield(first + bits.TrailingZeros64(word)) {
						return
					}
				}
			}
		}
	}
}

// collect returns what is in these slots, in order.
func collect[T any](s *slotSet, p *pagedArray[T]) []T {
	list := make([]T, 0, s.count)
	for i := range s.blocks {
		directory, pages := p.table[s.blocks[i].directory], s.blocks[i].pages
		for _, word := range s.blocks[i].words {
			items := &directory.items[bits.TrailingZeros64(pages)].items
			pages &= pages - 1
			for ; word != 0; word &= word - 1 {
				list = append(list, items[bits.TrailingZeros64(word)])
			}
		}
	}
	return list
}
