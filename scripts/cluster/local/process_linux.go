// What Linux knows about processes: when one started, and who dies with whom.
package local

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// dieWithParent has the kernel kill the process when its parent ends.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// startTime tells a process from a later one with the same pid: the boot it
// belongs to and the clock ticks since then. ok is false when no such process
// runs; one that has ended and only waits to be reaped does not.
func startTime(pid int) (when string, ok bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", false
	}
	// pid (name, which may hold spaces and parentheses) state ppid ...
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	const state, started = 0, 19
	if len(fields) <= started || bytes.ContainsAny(fields[state], "ZX") {
		return "", false
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", false
	}
	return strings.TrimSpace(string(boot)) + "/" + string(fields[started]), true
}
