// A paged array: a snapshot and the store share its pages until a write changes them.

package store

import "slices"

const (
	pageSize      = 64
	directorySize = pageSize * pageSize // slots of the pages of one directory
)

// A generationCounter counts the snapshots of a store. All paged arrays and slot sets of a store
// have the same counter. Only writes read it.
type generationCounter struct{ current uint64 }

// A pagedArray is an array of slots, in pieces: a table leads to directories, and each directory
// leads to 64 pages of 64 items. An assignment, a := b, takes no time: a and b share all pieces
// from then on.
//
// A write must not change a piece that a snapshot shares. The generation of a piece tells whether
// this is so. A piece has the generation in which it was made. Each snapshot starts a new
// generation. A write copies a piece of an earlier generation, and changes the copy. The first
// write after a snapshot copies the table, one directory and one page. The next write to that page
// changes it in place.
type pagedArray[T any] struct {
	counter    *generationCounter
	generation uint64            // of the table
	table      []*page[*page[T]] // of directories
}

// A page has items. A directory is a page, too: its items are pages, or nil where a page was
// dropped.
type page[T any] struct {
	generation uint64
	items      [pageSize]T
}

// page returns the page with a number. At least one of its slots is in use.
func (p *pagedArray[T]) page(number int) *page[T] {
	return p.table[number/pageSize].items[number%pageSize]
}

// get returns the item in a slot. The slot is in use.
func (p *pagedArray[T]) get(slot int) T { return p.page(slot / pageSize).items[slot%pageSize] }

// set puts an item into a slot. The slot was used before, or it is the next slot that was never
// used.
func (p *pagedArray[T]) set(slot int, item T) {
	ref := p.own(slot)
	*ref = (*ref).owned(p.counter.current)
	(*ref).items[slot%pageSize] = item
}

// drop removes the page of a slot. No slot of the page is in use.
func (p *pagedArray[T]) drop(slot int) { *p.own(slot) = nil }

// own makes sure that no snapshot shares the table and the directory of a slot. It returns the
// place in the directory that refers to the page of the slot.
func (p *pagedArray[T]) own(slot int) **page[T] {
	if p.generation != p.counter.current {
		p.table = slices.Clone(p.table)
		p.generation = p.counter.current
	}
	number := slot / directorySize
	if number == len(p.table) {
		p.table = append(p.table, nil)
	}
	p.table[number] = p.table[number].owned(p.counter.current)
	return &p.table[number].items[slot/pageSize%pageSize]
}

// owned returns a page that no snapshot shares: this page, a copy, or a new page.
func (p *page[T]) owned(generation uint64) *page[T] {
	switch {
	case p == nil:
		return &page[T]{generation: generation}
	case p.generation != generation:
		return &page[T]{generation: generation, items: p.items}
	}
	return p
}
