// Where a handler's calls are kept when they are not to be printed at once.

package calls

import (
	"fmt"
	"strings"
	"sync"
)

// A Log keeps lines. The zero value is ready for use, from any goroutine.
type Log struct {
	mu    sync.Mutex
	lines []string
}

// Printf keeps a line.
func (l *Log) Printf(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, fmt.Sprintf(format, args...))
}

// Len is how many lines there are.
func (l *Log) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.lines)
}

// Text is all lines.
func (l *Log) Text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines, "")
}
