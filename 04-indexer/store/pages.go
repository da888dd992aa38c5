// Pages: an array that two can share until one of them changes it.

package store

import "slices"

const pageSize = 256

// Pages are an array of slots, in pieces. An assignment, a := b, takes no time:
// a and b share all pieces from then on.
//
// A write must not change a piece that somebody shares. Generations tell which
// pieces these are. A piece has the generation of the write that made it. A store
// that shares its pages raises the generation of all later writes. A write
// copies a piece of an earlier generation, and changes the copy. The first write
// after an assignment copies the table and one page. The next write to that page
// changes it in place.
type pages[T any] struct {
	generation uint64     // of the table
	table      []*page[T] // nil where a page was dropped
}

type page[T any] struct {
	generation uint64
	items      [pageSize]T
}

// get returns what is in a slot that is in use.
func (p *pages[T]) get(slot int) T { return p.table[slot/pageSize].items[slot%pageSize] }

// set changes what is in a slot: in one that was used before, or in the next one
// that never was.
func (p *pages[T]) set(generation uint64, slot int, item T) {
	p.own(generation)
	number := slot / pageSize
	if number == len(p.table) {
		p.table = append(p.table, nil)
	}
	switch old := p.table[number]; {
	case old == nil:
		p.table[number] = &page[T]{generation: generation}
	case old.generation != generation:
		p.table[number] = &page[T]{generation, old.items}
	}
	p.table[number].items[slot%pageSize] = item
}

// drop forgets the page of a slot. No slot of it is in use.
func (p *pages[T]) drop(generation uint64, slot int) {
	p.own(generation)
	p.table[slot/pageSize] = nil
}

// own makes the table one that nobody else has.
func (p *pages[T]) own(generation uint64) {
	if p.generation != generation {
		p.table, p.generation = slices.Clone(p.table), generation
	}
}
