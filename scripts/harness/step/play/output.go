package play

import (
	"bytes"
	"slices"
	"sync"
)

// An output collects the lines that are written to it, from any goroutine.
type output struct {
	show      func(n int, line string) // called for the nth line as it comes
	normalize func(line string) string // replaces the texts that differ from run to run

	mu      sync.Mutex
	partial []byte // the beginning of a line whose end has not come yet
	lines   []string
	more    chan struct{} // closed, and replaced by a new channel, when a line comes
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.partial = append(o.partial, p...)
	for {
		line, rest, found := bytes.Cut(o.partial, []byte("\n"))
		if !found {
			return len(p), nil
		}
		o.partial = rest
		o.add(string(line))
	}
}

// flush ends a line that was written without its end.
func (o *output) flush() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.partial) > 0 {
		line := string(o.partial)
		o.partial = nil
		o.add(line)
	}
}

// add adds a line. The caller holds mu.
func (o *output) add(line string) {
	normalized := o.normalize(line)
	o.lines = append(o.lines, normalized)
	o.show(len(o.lines), normalized)
	close(o.more)
	o.more = make(chan struct{})
}

// from returns the lines that came after the first n, and a channel that is closed when another
// line comes.
func (o *output) from(n int) (lines []string, more <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.lines[n:]), o.more
}
