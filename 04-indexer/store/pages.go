// Pages: an array that can be copied in no time.

package store

import "slices"

const pageSize = 256

// Pages are an array of slots, in pieces. To assign it is to copy it: the two
// have everything in common from then on.
//
// So a page may be changed only by somebody who knows that nobody else has it.
// That is what generations are for. Whoever copies pages sees to it that later
// writes have a higher one, and a write copies what is of an earlier generation
// before it changes it. So the first write after a copy copies the table and one
// page, and the next one that comes to them changes them in place.
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

// set changes what is in a slot. The first that was never used is the highest
// that there is room for.
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

// drop forgets the page of a slot, where no slot is in use.
func (p *pages[T]) drop(generation uint64, slot int) {
	p.own(generation)
	p.table[slot/pageSize] = nil
}

func (p *pages[T]) own(generation uint64) {
	if p.generation != generation {
		p.table, p.generation = slices.Clone(p.table), generation
	}
}
