// Package usage measures the memory and the goroutines of a program.
package usage

import (
	"bufio"
	"bytes"
	"fmt"
	"runtime"
	"runtime/pprof"
	"strings"
)

// Heap collects garbage, and returns how many bytes are left on the heap.
func Heap() int {
	runtime.GC()
	runtime.GC() // again: the first collection only moves the objects of a sync.Pool to its victim cache
	return int(memory().HeapAlloc)
}

// Allocated returns how many bytes the program has allocated since its start.
func Allocated() int { return int(memory().TotalAlloc) }

func memory() (stats runtime.MemStats) {
	runtime.ReadMemStats(&stats)
	return stats
}

// Goroutines counts the goroutines whose pprof label has this value. A goroutine inherits the
// labels of the goroutine that started it: see pprof.Do.
//
// The profile has groups of goroutines with the same stack and the same labels. A group begins with
// its size.
func Goroutines(label, value string) int {
	var profile bytes.Buffer
	_ = pprof.Lookup("goroutine").WriteTo(&profile, 1) // it never fails: it writes to memory
	labelText := fmt.Sprintf("%q:%q", label, value)
	total, groupSize := 0, 0
	for lines := bufio.NewScanner(&profile); lines.Scan(); {
		line := lines.Text()
		var size int
		if n, err := fmt.Sscanf(line, "%d @", &size); n == 1 && err == nil {
			groupSize = size
			continue
		}
		if strings.HasPrefix(line, "# labels:") && strings.Contains(line, labelText) {
			total += groupSize
		}
	}
	return total
}
