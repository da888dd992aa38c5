// Where a handler's calls are kept when they are not to be printed at once.

package main

import (
	"fmt"
	"strings"
	"sync"
)

// A log keeps lines. The zero value is ready for use, from any goroutine.
type log struct {
	mu    sync.Mutex
	lines []string
}

func (l *log) printf(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, fmt.Sprintf(format, args...))
}

func (l *log) len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.lines)
}

func (l *log) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines, "")
}
