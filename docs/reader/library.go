// The book, as it is in the workspace now.

package main

import (
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"example.com/informer/docs/book"
)

// A library has the book, and loads it again when a page has changed.
type library struct {
	ws fs.FS

	mu          sync.Mutex
	book        *book.Book
	fingerprint string // of the pages, when the book was loaded
}

// read calls a function with the book. There is one call at a time, because a book keeps what it
// has looked up.
func (l *library) read(do func(*book.Book)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	names, err := book.PageNames(l.ws)
	if err != nil {
		return fmt.Errorf("looking for the pages of the book: %w", err)
	}
	fingerprint := fingerprintOf(l.ws, names)
	if l.book == nil || l.fingerprint != fingerprint {
		b, err := book.Load(l.ws)
		if err != nil {
			return err
		}
		l.book, l.fingerprint = b, fingerprint
	}
	do(l.book)
	return nil
}

// fingerprintOf returns a text that differs after one of the files has changed.
func fingerprintOf(ws fs.FS, names []string) string {
	var text strings.Builder
	for _, name := range names {
		info, err := fs.Stat(ws, name)
		if err != nil {
			fmt.Fprintln(&text, name, "is missing")
			continue
		}
		fmt.Fprintln(&text, name, info.Size(), info.ModTime().UnixNano())
	}
	return text.String()
}
