// Which processes are a cluster's, and how they end.

package local

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A Process is one that runs.
type Process struct {
	PID     int
	Program string // its path, as on the command line; "" if it has ended, and its parent has not asked how
}

// Processes returns the processes whose program is a file, or lies below a folder, by the
// name of the program. A pid in a file may be somebody else's by now; a command line is not.
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
		line, _ := os.ReadFile(file) // of a process that has ended it is empty
		program, _, _ := strings.Cut(string(line), "\x00")
		all = append(all, Process{pid, program})
	}
	if files != nil {
		return all
	}
	list, _ := exec.Command("ps", "-axwwo", "pid=,comm=").Output() // macOS; ww: as long as they are
	return parseProcesses(string(list))
}

// parseProcesses reads lines of a pid and the path of a program, which may have spaces in it.
func parseProcesses(list string) (all []Process) {
	for line := range strings.Lines(list) {
		number, program, _ := strings.Cut(strings.TrimSpace(line), " ")
		if pid, err := strconv.Atoi(number); err == nil {
			all = append(all, Process{pid, strings.TrimSpace(program)})
		}
	}
	return all
}

// kill kills the processes of a file or a folder, and returns when they are gone.
func kill(path string) error {
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		left := Processes(path)
		for _, p := range left {
			_ = syscall.Kill(p.PID, syscall.SIGKILL) // it may have ended just now
		}
		if len(left) == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("processes of %s do not end, even when they are killed: %v", path, left)
		}
	}
}

// Remove ends the processes of the cluster in a folder, and removes the folder. It is
// no error if there is none.
func Remove(dir string) error {
	if err := kill(dir); err != nil {
		return err
	}
	return os.RemoveAll(dir)
}

// A guard is a process that removes a cluster when its standard input ends: when it is
// closed, or when the process that made it has ended in whatever way.
type guard struct {
	cmd   *exec.Cmd
	input io.Closer
	said  strings.Builder
}

// guardEnv makes a program with this package in it a guard.
const guardEnv = "INFORMER_CLUSTER_GUARD"

func init() {
	dir := os.Getenv(guardEnv)
	if dir == "" {
		return
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	if err := Remove(dir); err != nil {
		fmt.Fprint(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func startGuard(dir string) (*guard, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	g := &guard{cmd: exec.Command(program)}
	g.cmd.Env = append(os.Environ(), guardEnv+"="+dir)
	g.cmd.Stderr = &g.said
	g.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // a Ctrl-C in the terminal is not for it
	if g.input, err = g.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	return g, g.cmd.Start()
}

// end has the guard remove the cluster, and returns when it has.
func (g *guard) end() error {
	g.input.Close()
	if err := g.cmd.Wait(); err != nil {
		return fmt.Errorf("removing the cluster: %w: %s", err, &g.said)
	}
	return nil
}
