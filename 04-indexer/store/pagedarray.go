// A paged array: one that two can share until one of them changes it.

package store

import "slices"

const (
	pageSize      = 64
	directorySize = pageSize * pageSize // slots of the pages of one directory
)

// A pagedArray is an array of slots, in pieces: a table leads to directories, and each
// of these leads to 64 pages of 64 items. An assignment, a := b, takes no time: a
// and b share all pieces from then on.
//
// A write must not change a piece that somebody shares. Generations tell which
// pieces these are. A piece has the generation of the write that made it. A store
// that shares its pages raises the generation of all later writes. A write
// copies a piece of an earlier generation, and changes the copy. The first write
// after an assignment copies the table, one directory and one page. The next write
// to that page changes it in place.
type pagedArray[T any] struct {
	generation uint64            // of the table
	table      []*page[*page[T]] // of directories
}

// A page has items. A directory is a page, too: its items are pages, or nil where
// one was dropped.
type page[T any] struct {
	generation uint64
	items      [pageSize]T
}

// page returns the page with a number. One of its slots is in use.
func (p *pagedArray[T]) page(number int) *page[T] {
	return p.table[number/pageSize].items[number%pageSize]
}

// get returns what is in a slot that is in use.
func (p *pagedArray[T]) get(slot int) T { return p.page(slot / pageSize).items[slot%pageSize] }

// set changes what is in a slot: in one that was used before, or in the next one
// that never was.
func (p *pagedArray[T]) set(generation uint64, slot int, item T) {
	at := p.own(generation, slot)
	*at = (*at).owned(generation)
	(*at).items[slot%pageSize] = item
}

// drop forgets the page of a slot. No slot of it is in use.
func (p *pagedArray[T]) drop(generation uint64, slot int) { *p.own(generation, slot) = nil }

// own makes the table and the directory of a slot such that nobody else has them,
// and returns where the page is.
func (p *pagedArray[T]) own(generation uint64, slot int) **page[T] {
	if p.generation != generation {
		p.table, p.generation = slices.Clone(p.table), generation
	}
	number := slot / directorySize
	if number == len(p.table) {
		p.table = append(p.table, nil)
	}
	p.table[number] = p.table[number].owned(generation)
	return &p.table[number].items[slot/pageSize%pageSize]
}

// owned returns a page that nobody else has: this one, a copy, or a new one.
func (p *page[T]) owned(generation uint64) *page[T] {
	switch {
	case p == nil:
		return &page[T]{generation: generation}
	case p.generation != generation:
		return &page[T]{generation, p.items}
	}
	return p
}
