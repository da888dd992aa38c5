// The blocks of a page, beside the files that they show.

package book

import "strings"

// A Block is a block of a page that shows a part of a file.
type Block struct {
	Line     int      // of its fence, from 0
	IsOutput bool     // it is an output, and not code
	File     string   // slash-separated, from the workspace root
	Names    []string // the declarations that it shows; none for the whole file
	Printed  string   // the text on the page
	Now      string   // the text in the workspace now
	Err      error    // why there is no such text; nil if there is
}

// Blocks returns the blocks of a page that show a part of a file. If the page cannot be read, it
// has none.
func (b *Book) Blocks(name string) (blocks []Block) {
	p, err := b.page(name)
	if err != nil {
		return nil
	}
	for _, d := range p.directives {
		if d.end == 0 {
			continue // there is no block yet
		}
		fence, last := d.start, d.end-1
		if d.isFolded {
			fence, last = d.start+2, d.end-3
		}
		block := Block{Line: fence, IsOutput: d.verb == "output", File: d.file, Names: d.names}
		block.Printed = strings.Join(p.lines[fence+1:last], "\n")
		block.Now, block.Err = b.content(d)
		blocks = append(blocks, block)
	}
	return blocks
}
