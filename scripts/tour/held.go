// A writer that waits for its turn.

package main

import (
	"bytes"
	"io"
	"sync"
)

// held keeps what is written to it until release, so that progress made
// meanwhile does not run into a chapter's output; then it passes all on.
type held struct {
	out io.Writer

	mu       sync.Mutex
	kept     bytes.Buffer
	released bool
}

func (h *held) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.released {
		return h.out.Write(p)
	}
	return h.kept.Write(p)
}

func (h *held) release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.released = true
	h.kept.WriteTo(h.out)
}
