// Taking a running cluster apart, for tests of what clients do then.

package local

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"example.com/informer/scripts/cluster/binaries"
)

// components are those that are not disabled.
func (c *Cluster) components() []string {
	return slices.DeleteFunc([]string{Etcd, APIServer, ControllerManager, Scheduler, Node}, c.disabled)
}

func (c *Cluster) disabled(component string) bool { return slices.Contains(c.opts.Disable, component) }

func (c *Cluster) log(component string) string {
	return filepath.Join(c.folder(), "logs", component+".log")
}

// ended names a component that does not run, with the last line of its log.
func (c *Cluster) ended() error {
	for _, component := range c.components() {
		if c.PID(component) == 0 {
			text, _ := os.ReadFile(c.log(component))
			return fmt.Errorf("%s does not run: %s", component, lastLine(text))
		}
	}
	return nil
}

func lastLine(text []byte) string {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return lines[len(lines)-1]
}

// PID of a component, or 0 while it does not run.
func (c *Cluster) PID(component string) int { return Processes(c.folder())[component].PID }

// EtcdURL is where etcd answers.
func (c *Cluster) EtcdURL() string { return fmt.Sprintf("http://127.0.0.1:%d", c.ports[0]) }

// Signal sends a signal to a component, such as SIGSTOP to freeze it and SIGCONT to let
// it go on.
func (c *Cluster) Signal(component string, s syscall.Signal) error {
	pid := c.PID(component)
	if pid == 0 {
		return fmt.Errorf("signal %s: %w", component, os.ErrProcessDone)
	}
	return syscall.Kill(pid, s)
}

// Kill ends a component with SIGKILL and returns when it is gone.
func (c *Cluster) Kill(component string) error {
	if c.PID(component) == 0 {
		return fmt.Errorf("kill %s: %w", component, os.ErrProcessDone)
	}
	return kill(filepath.Join(c.folder(), "bin", component))
}

// Restart starts a component again that was killed, on the same port and the same data.
// For etcd and the API server it returns when the API answers from the data, unless the
// other one of the two does not run.
func (c *Cluster) Restart(ctx context.Context, component string) error {
	how, known := c.started[component]
	if c.PID(component) != 0 || !known {
		return fmt.Errorf("restart %s: it runs, or never ran", component)
	}
	log, err := os.OpenFile(c.log(component), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(how.Args[0], how.Args[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = c.folder(), log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // a Ctrl-C in the terminal is not for it
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("restart %s: %w", component, err)
	}
	_ = cmd.Process.Release() // it is found by its command line, as all others are
	if (component == Etcd || component == APIServer) && c.PID(Etcd) != 0 && c.PID(APIServer) != 0 {
		ctx, cancel := context.WithTimeout(ctx, readyWithin)
		defer cancel()
		return binaries.Await(ctx, c.kubectl, c.Kubeconfig())
	}
	return nil
}
