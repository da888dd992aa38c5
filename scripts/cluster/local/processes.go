// The processes of a cluster: how they are found, and how they are killed.

package local

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A Process is a process of this machine.
type Process struct {
	PID     int
	Program string // its path, as on the command line; "" for a zombie
}

// Processes returns the processes whose program is the file path, or lies below the folder path.
// The keys are the names of the programs. It does not use the pids in kwokctl's files, because such
// a pid may belong to another process after a reboot.
func Processes(path string) map[string]Process {
	found := map[string]Process{}
	for _, p := range allProcesses() {
		if p.Program == path || strings.HasPrefix(p.Program, path+"/") {
			found[filepath.Base(p.Program)] = p
		}
	}
	return found
}

func allProcesses() (all []Process) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		line, _ := os.ReadFile(file) // a zombie has an empty one
		program, _, _ := strings.Cut(string(line), "\x00")
		all = append(all, Process{PID: pid, Program: program})
	}
	if files != nil {
		return all
	}
	list, _ := exec.Command("ps", "-axwwo", "pid=,comm=").Output() // on macOS; ww: do not shorten lines
	return parseProcesses(string(list))
}

// parseProcesses reads lines of a pid and the path of a program. The path may have spaces in it.
func parseProcesses(list string) (all []Process) {
	for line := range strings.Lines(list) {
		number, program, _ := strings.Cut(strings.TrimSpace(line), " ")
		if pid, err := strconv.Atoi(number); err == nil {
			all = append(all, Process{PID: pid, Program: strings.TrimSpace(program)})
		}
	}
	return all
}

const (
	killWithin = 10 * time.Second
	killEvery  = 20 * time.Millisecond
)

// kill kills the processes of a file or a folder, and returns when they are gone.
func kill(path string) error {
	deadline := time.Now().Add(killWithin)
	for {
		left := Processes(path)
		if len(left) == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("processes of %s do not end, even when they are killed: %v", path, left)
		}
		for _, p := range left {
			_ = syscall.Kill(p.PID, syscall.SIGKILL) // it fails if the process has just ended
		}
		time.Sleep(killEvery)
	}
}

// Remove kills the processes of the cluster in a folder, and removes the folder. It returns no
// error if there is no such cluster.
func Remove(dir string) error {
	if err := kill(dir); err != nil {
		return err
	}
	return os.RemoveAll(dir)
}
