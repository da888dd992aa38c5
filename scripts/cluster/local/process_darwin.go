// What macOS knows about processes: when one started.
package local

import (
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// dieWithParent does nothing: macOS has no such thing.
func dieWithParent(*syscall.SysProcAttr) {}

// startTime tells a process from a later one with the same pid. ok is false
// when no such process runs; one that has ended and only waits to be reaped
// does not.
func startTime(pid int) (when string, ok bool) {
	const zombie = 5 // SZOMB in sys/proc.h
	p, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || p.Proc.P_pid != int32(pid) || p.Proc.P_stat == zombie {
		return "", false
	}
	return fmt.Sprintf("%d.%06d", p.Proc.P_starttime.Sec, p.Proc.P_starttime.Usec), true
}
