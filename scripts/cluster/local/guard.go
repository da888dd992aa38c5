// The guard: a process that removes a cluster after the process that made it.

package local

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// A guard is a process that removes a cluster when its standard input ends: when this process
// closes it, or when this process ends in whatever way.
type guard struct {
	cmd    *exec.Cmd
	stdin  io.Closer
	stderr strings.Builder
}

// guardEnv is the environment variable that turns a program with this package into a guard. Its
// value is the folder of the cluster.
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

// startGuard runs this program again, as a guard.
func startGuard(dir string) (*guard, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	g := &guard{cmd: exec.Command(program)}
	g.cmd.Env = append(os.Environ(), guardEnv+"="+dir)
	g.cmd.Stderr = &g.stderr
	g.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // a Ctrl-C in the terminal does not reach it
	g.stdin, err = g.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	return g, g.cmd.Start()
}

// end lets the guard remove the cluster, and returns when the guard has ended.
func (g *guard) end() error {
	g.stdin.Close()
	if err := g.cmd.Wait(); err != nil {
		return fmt.Errorf("removing the cluster: %w: %s", err, &g.stderr)
	}
	return nil
}
