package subject

import "syscall"

// peakMemory is the most that was resident.
func peakMemory() (int, error) {
	var usage syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return int(usage.Maxrss), err
}
