// What macOS knows about processes: when one started.

package local

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// dieWithParent does nothing: macOS has no such thing.
func dieWithParent(*syscall.SysProcAttr) {}

// startTime distinguishes a process from a later one with the same pid. The error is
// os.ErrProcessDone when no such process runs; one that has ended and only waits
// to be reaped does not.
func startTime(pid int) (string, error) {
	const zombie = 5 // SZOMB in sys/proc.h
	p, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	switch {
	case err != nil && !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH):
		return "", fmt.Errorf("sysctl kern.proc.pid %d: %w", pid, err)
	case err != nil || p.Proc.P_pid != int32(pid) || p.Proc.P_stat == zombie:
		return "", os.ErrProcessDone
	}
	return fmt.Sprintf("%d.%06d", p.Proc.P_starttime.Sec, p.Proc.P_starttime.Usec), nil
}
