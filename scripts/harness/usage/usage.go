// Package usage says what informers cost a program: memory and goroutines.
package usage

import (
	"bufio"
	"bytes"
	"fmt"
	"runtime"
	"runtime/pprof"
	"strings"
)

// Heap collects garbage and returns how many bytes are left.
func Heap() int {
	runtime.GC()
	runtime.GC() // the first lets go of what a sync.Pool holds
	return int(memory().HeapAlloc)
}

// Allocated returns how many bytes were ever allocated.
func Allocated() int { return int(memory().TotalAlloc) }

func memory() (stats runtime.MemStats) {
	runtime.ReadMemStats(&stats)
	return stats
}

// Goroutines counts the goroutines that have this value for the pprof label. A
// goroutine inherits the labels of the one that started it: see pprof.Do.
func Goroutines(label, value string) int {
	var profile bytes.Buffer
	pprof.Lookup("goroutine").WriteTo(&profile, 1) // it never fails: it writes to memory
	total, alike := 0, 0
	for lines := bufio.NewScanner(&profile); lines.Scan(); {
		if n, err := fmt.Sscanf(lines.Text(), "%d @", &alike); n == 1 && err == nil {
			continue // so many goroutines, with the stack and the labels that follow
		}
		if strings.HasPrefix(lines.Text(), "# labels:") &&
			strings.Contains(lines.Text(), fmt.Sprintf("%q:%q", label, value)) {
			total += alike
		}
	}
	return total
}
