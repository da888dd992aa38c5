// A check that a cluster listens on loopback only.

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"example.com/informer/scripts/cluster/local"
	"example.com/informer/scripts/harness/must"
)

// loopback are the addresses of loopback, as Linux writes them in /proc/net/tcp and /proc/net/tcp6.
var loopback = []string{"0100007F", "00000000000000000000000001000000"}

// checkLoopback fails if a process of the cluster in a folder listens on an address that is not
// loopback. It reads /proc, and so it checks nothing on a system that is not Linux.
func checkLoopback(t *testing.T, dir string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		return
	}
	inodes := socketInodes(dir)
	listening := 0
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		content, err := os.ReadFile(table)
		must.NoError(t, err)
		for line := range strings.Lines(string(content)) {
			// The columns are: sl local_address rem_address st … inode. The state 0A is LISTEN.
			fields := strings.Fields(line)
			if len(fields) < 10 || fields[3] != "0A" || !inodes[fields[9]] {
				continue
			}
			listening++
			if address, _, _ := strings.Cut(fields[1], ":"); !slices.Contains(loopback, address) {
				t.Errorf("a process of the cluster listens on %s (in hexadecimal), want one of %q", fields[1], loopback)
			}
		}
	}
	if listening < 5 {
		t.Errorf("the cluster has %d sockets that listen, want 5 at least: two of etcd, and one of each other process",
			listening)
	}
}

// socketInodes returns the inodes of all sockets that the processes of the cluster in a folder have
// open.
func socketInodes(dir string) map[string]bool {
	inodes := map[string]bool{}
	for _, process := range local.Processes(dir) {
		files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", process.PID))
		for _, file := range files {
			link, _ := os.Readlink(file) // "" if the process has just closed it
			if inode, ok := strings.CutPrefix(link, "socket:["); ok {
				inodes[strings.TrimSuffix(inode, "]")] = true
			}
		}
	}
	return inodes
}
