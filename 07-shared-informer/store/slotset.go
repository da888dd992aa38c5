// Slot sets: which slots are in use, and which slots have a value of an index.

package store

import (
	"iter"
	"math/bits"
	"slices"
	"sort"
)

// A slotSet is a set of slots. It has a word of 64 bits for each page that has a slot in the set,
// and a bit for each slot. A write copies parts of the set as it copies pages. The words are
// grouped in blocks, as pages are grouped in directories.
type slotSet struct {
	counter    *generationCounter
	generation uint64 // of blocks
	count      int
	blocks     []block // in order
}

// A block has the words of the pages of one directory.
type block struct {
	generation uint64 // of words
	directory  int
	pages      uint64   // a bit for each page that has a word
	words      []uint64 // in the order of the bits of pages; no word is 0
}

func (s *slotSet) add(slot int) {
	i, ok := s.find(slot)
	if !ok {
		newBlock := block{generation: s.counter.current, directory: slot / directorySize}
		s.blocks = slices.Insert(s.blocks, i, newBlock)
	}
	b := &s.blocks[i]
	page, word := b.find(s.counter.current, slot)
	if b.pages&page == 0 {
		b.pages |= page
		b.words = slices.Insert(b.words, word, 0)
	}
	bit := uint64(1) << (slot % pageSize)
	if b.words[word]&bit == 0 {
		b.words[word] |= bit
		s.count++
	}
}

// remove removes a slot. pageIsEmpty reports whether it was the last slot of its page.
func (s *slotSet) remove(slot int) (pageIsEmpty bool) {
	i, ok := s.find(slot)
	if !ok {
		return false
	}
	b := &s.blocks[i]
	page, word := b.find(s.counter.current, slot)
	bit := uint64(1) << (slot % pageSize)
	if b.pages&page == 0 || b.words[word]&bit == 0 {
		return false
	}
	b.words[word] &^= bit
	s.count--
	if b.words[word] != 0 {
		return false
	}
	b.pages &^= page
	b.words = slices.Delete(b.words, word, word+1)
	if b.pages == 0 {
		s.blocks = slices.Delete(s.blocks, i, i+1)
	}
	return true
}

// find returns the index of the block of a slot, or the index at which this block has to be
// inserted. It makes sure that no snapshot shares the blocks.
func (s *slotSet) find(slot int) (i int, ok bool) {
	if s.generation != s.counter.current {
		s.blocks = slices.Clone(s.blocks)
		s.generation = s.counter.current
	}
	directory := slot / directorySize
	i = sort.Search(len(s.blocks), func(i int) bool { return s.blocks[i].directory >= directory })
	return i, i < len(s.blocks) && s.blocks[i].directory == directory
}

// find returns the bit of the page of a slot. It also returns the index of the word of this page,
// or the index at which this word has to be inserted. It makes sure that no snapshot shares the
// words.
func (b *block) find(generation uint64, slot int) (page uint64, word int) {
	if b.generation != generation {
		b.words = slices.Clone(b.words)
		b.generation = generation
	}
	page = 1 << (slot / pageSize % pageSize)
	return page, bits.OnesCount64(b.pages & (page - 1)) // the pages before it
}

// all yields the slots in order.
func (s *slotSet) all() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range s.blocks {
			pages := s.blocks[i].pages
			for _, word := range s.blocks[i].words {
				first := s.blocks[i].directory*directorySize + bits.TrailingZeros64(pages)*pageSize
				pages &= pages - 1 // clears the lowest bit
				for ; word != 0; word &= word - 1 {
					if !yield(first + bits.TrailingZeros64(word)) {
						return
					}
				}
			}
		}
	}
}

// collect returns the items in the slots of a set, in order.
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
