// Looking at what listens.

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"example.com/informer/scripts/cluster/local"
	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
)

// checkLoopback fails if a process of the cluster in a folder listens on anything but
// loopback. It looks where Linux has it.
func checkLoopback(t *testing.T, dir string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		return
	}
	sockets := map[string]bool{}
	for _, process := range local.Processes(dir) {
		files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", process.PID))
		for _, file := range files {
			if link, _ := os.Readlink(file); strings.HasPrefix(link, "socket:[") {
				sockets[strings.Trim(link, "socket:[]")] = true
			}
		}
	}
	listening := 0
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		content, err := os.ReadFile(table)
		must.Do(t, err)
		for line := range strings.Lines(string(content)) {
			// sl local_address rem_address st … inode; 0A is LISTEN
			fields := strings.Fields(line)
			if len(fields) < 10 || fields[3] != "0A" || !sockets[fields[9]] {
				continue
			}
			listening++
			address, _, _ := strings.Cut(fields[1], ":")
			if address != "0100007F" && address != "00000000000000000000000001000000" {
				t.Errorf("a process of the cluster listens on %s (in hexadecimal)", fields[1])
			}
		}
	}
	expect.That(t, listening >= 5, "only %d sockets that listen: etcd has two, and each other process one", listening)
}
