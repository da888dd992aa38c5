// What Linux knows about processes: when one started, and who dies with whom.

package local

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// dieWithParent has the kernel kill the process when its parent ends.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// startTime distinguishes a process from a later one with the same pid: the boot it
// belongs to and the clock ticks since then. The error is os.ErrProcessDone when
// no such process runs; one that has ended and only waits to be reaped does not.
func startTime(pid int) (string, error) {
	path := fmt.Sprintf("/proc/%d/stat", pid)
	stat, err := os.ReadFile(path)
	if err != nil && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return "", os.ErrProcessDone
	}
	if err != nil {
		return "", err
	}
	// pid (name, which may hold spaces and parentheses) state ppid ...
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	const state, started = 0, 19
	if len(fields) <= started {
		return "", fmt.Errorf("%s is not as expected: %q", path, stat)
	}
	if bytes.ContainsAny(fields[state], "ZX") {
		return "", os.ErrProcessDone
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(boot)) + "/" + string(fields[started]), nil
}
