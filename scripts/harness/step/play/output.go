// What a step prints, line by line.

package play

import (
	"bytes"
	"strings"
	"sync"
)

// output collects the lines that are written to it, from any goroutine.
type output struct {
	show func(line string)        // called for each line as it comes
	name func(line string) string // puts NAMESPACE and ADDRESS into the line

	mu      sync.Mutex
	partial []byte
	lines   []string
	more    chan struct{} // closed, and made anew, when a line comes
}

func newOutput(name func(string) string, show func(string)) *output {
	return &output{name: name, show: show, more: make(chan struct{})}
}

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

// flush makes a line of what was written without the end of a line.
func (o *output) flush() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.partial) > 0 {
		o.add(string(o.partial))
		o.partial = nil
	}
}

// add is called with mu held.
func (o *output) add(line string) {
	line = o.name(line)
	o.lines = append(o.lines, line)
	o.show(line)
	close(o.more)
	o.more = make(chan struct{})
}

// from returns the lines that came after the first n, and a channel that
// closes when another one comes.
func (o *output) from(n int) (lines []string, more <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]string(nil), o.lines[n:]...), o.more
}

// namer returns a function that puts a word in the place of what differs from
// run to run.
func namer(namespace string, address func() string) func(string) string {
	return func(line string) string {
		if namespace != "" {
			line = strings.ReplaceAll(line, namespace, "NAMESPACE")
		}
		if a := address(); a != "" {
			line = strings.ReplaceAll(line, a, "ADDRESS")
		}
		return line
	}
}
