// What a subject and the whole process use: goroutines, file descriptors, memory.

package bout

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
)

// label is how goroutines are told apart by the subject that started them.
const label = "subject"

// goroutines counts those of a subject, its connections' included.
func goroutines(subject string) (int, error) {
	var profile bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&profile, 1); err != nil {
		return 0, err
	}
	mark := fmt.Sprintf("%q:%q", label, subject)
	total, n := 0, 0
	for lines := bufio.NewScanner(&profile); lines.Scan(); {
		line := lines.Text()
		if count, _, ok := strings.Cut(line, " @ "); ok { // "3 @ 0x47e2f8 …": so many have this stack
			n, _ = strconv.Atoi(count)
		}
		if strings.HasPrefix(line, "# labels:") && strings.Contains(line, mark) {
			total += n
		}
	}
	return total, nil
}

// descriptors counts the open files of the process.
func descriptors() (int, error) {
	open, err := os.ReadDir("/dev/fd")
	return len(open), err
}

// Heap is what is in use, in bytes, after all garbage was collected.
func Heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
