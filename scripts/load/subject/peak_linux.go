package subject

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
)

var highWater = regexp.MustCompile(`(?m)^VmHWM:\s*(\d+) kB$`)

// peakMemory is the most that was resident. It is not taken from getrusage,
// where a process begins with what its parent held when it was started.
func peakMemory() (int, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	found := highWater.FindSubmatch(status)
	if found == nil {
		return 0, fmt.Errorf("no VmHWM in /proc/self/status")
	}
	kB, err := strconv.Atoi(string(found[1]))
	return kB << 10, err
}
