// What informers cost: goroutines, and memory.

package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"runtime"
	"runtime/pprof"
	"strings"
)

// marked calls f so that every goroutine that comes of it has a mark. Other
// steps may run in this process at the same time.
func marked(ctx context.Context, mark string, f func(context.Context)) {
	pprof.Do(ctx, pprof.Labels("mark", mark), f)
}

// goroutines counts those with the mark, from the profile that Go keeps.
func goroutines(mark string) int {
	var profile bytes.Buffer
	pprof.Lookup("goroutine").WriteTo(&profile, 1) // it never fails: it writes to memory
	total, alike := 0, 0
	for lines := bufio.NewScanner(&profile); lines.Scan(); {
		if n, err := fmt.Sscanf(lines.Text(), "%d @", &alike); n == 1 && err == nil {
			continue // so many goroutines, with the stack and the labels that follow
		}
		if strings.HasPrefix(lines.Text(), "# labels:") &&
			strings.Contains(lines.Text(), fmt.Sprintf("%q:%q", "mark", mark)) {
			total += alike
		}
	}
	return total
}

// heap is the memory in use, in bytes.
func heap() int {
	runtime.GC()
	runtime.GC() // the first lets go of what pools hold
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int(stats.HeapAlloc)
}
