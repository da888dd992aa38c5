// Which processes are a cluster's, and how they end.

package local

import (
	"errors"
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

// Processes returns the pids of the processes whose program lies below a folder, by
// the name of the program. A pid in a file may be somebody else's by now; a command line is not.
func Processes(folder string) map[string]int {
	found := map[string]int{}
	for pid, program := range programs() {
		if strings.HasPrefix(program, folder+"/") {
			found[filepath.Base(program)] = pid
		}
	}
	return found
}

// programs returns the program that each process was started as.
func programs() map[int]string {
	all := map[int]string{}
	if files, _ := filepath.Glob("/proc/[0-9]*/cmdline"); files != nil {
		for _, file := range files {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			line, _ := os.ReadFile(file) // of a process that has ended it is empty
			all[pid], _, _ = strings.Cut(string(line), "\x00")
		}
		return all
	}
	list, _ := exec.Command("ps", "-axo", "pid=,args=").Output() // macOS
	for line := range strings.Lines(string(list)) {
		number, program, _ := strings.Cut(strings.TrimSpace(line), " ")
		pid, _ := strconv.Atoi(number)
		all[pid], _, _ = strings.Cut(strings.TrimSpace(program), " --")
	}
	return all
}

const (
	endWithin = 10 * time.Second
	lookEvery = 20 * time.Millisecond
)

// kill kills these processes and returns when they are gone.
func kill(folder string, names ...string) error {
	deadline := time.Now().Add(endWithin)
	for {
		left := 0
		for name, pid := range Processes(folder) {
			if len(names) == 0 || name == names[0] {
				left++
				_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended just now
			}
		}
		if left == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%d processes of %s do not end, even when they are killed", left, folder)
		}
		time.Sleep(lookEvery)
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
	if err := g.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the process that will remove the cluster: %w", err)
	}
	return g, nil
}

// end has the guard remove the cluster, and returns when it has.
func (g *guard) end() error {
	g.input.Close()
	if err := g.cmd.Wait(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("removing the cluster: %w: %s", err, &g.said)
	}
	return nil
}
