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

	"sigs.k8s.io/yaml"

	"example.com/informer/scripts/cluster/ready"
)

// components are those that are not disabled.
func (c *Cluster) components() []string {
	return slices.DeleteFunc([]string{Etcd, APIServer, ControllerManager, Scheduler, Node}, c.disabled)
}

func (c *Cluster) disabled(component string) bool { return slices.Contains(c.opts.Disable, component) }

// PID of a component, or 0 while it does not run.
func (c *Cluster) PID(component string) int { return Processes(c.folder())[component] }

// ended names a component that has ended.
func (c *Cluster) ended() error {
	running := Processes(c.folder())
	for _, component := range c.components() {
		if running[component] == 0 {
			return fmt.Errorf("%s has ended: %s", component, lastLine(c.log(component)))
		}
	}
	return nil
}

func (c *Cluster) log(component string) string {
	return filepath.Join(c.folder(), "logs", component+".log")
}

func lastLine(file string) string {
	text, _ := os.ReadFile(file)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return lines[len(lines)-1]
}

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
	return kill(c.folder(), component)
}

// Restart starts a component again that was killed or has ended, on the same port and
// the same data. For etcd and the API server it returns when the API answers from the
// data, unless the other one of the two does not run.
func (c *Cluster) Restart(ctx context.Context, component string) error {
	if c.PID(component) != 0 {
		return fmt.Errorf("restart %s: it runs", component)
	}
	about, err := c.about()
	if err != nil {
		return err
	}
	for _, how := range about.Components {
		if how.Name == component {
			if err := c.launch(how); err != nil {
				return fmt.Errorf("restart %s: %w", component, err)
			}
		}
	}
	if c.PID(component) == 0 {
		return fmt.Errorf("restart %s: %s", component, lastLine(c.log(component)))
	}
	if (component == Etcd || component == APIServer) && c.PID(Etcd) != 0 && c.PID(APIServer) != 0 {
		ctx, cancel := context.WithTimeout(ctx, readyWithin)
		defer cancel()
		return ready.Wait(ctx, c.Kubeconfig(), ready.API(), func() error { return nil })
	}
	return nil
}

// EtcdURL is where etcd answers.
func (c *Cluster) EtcdURL() (string, error) {
	about, err := c.about()
	return fmt.Sprintf("http://127.0.0.1:%d", about.Options.EtcdPort), err
}

// about is what kwokctl has written down of a cluster.
type about struct {
	Kind       string
	Options    struct{ EtcdPort int }
	Components []component
}

type component struct {
	Name, Binary, WorkDir string
	Args                  []string
	Envs                  []struct{ Name, Value string }
}

func (c *Cluster) about() (a about, err error) {
	text, err := os.ReadFile(filepath.Join(c.folder(), "kwok.yaml"))
	if err != nil {
		return a, err
	}
	for document := range strings.SplitSeq(string(text), "\n---\n") {
		a = about{}
		if err := yaml.Unmarshal([]byte(document), &a); err != nil {
			return a, err
		}
		if a.Kind == "KwokctlConfiguration" {
			return a, nil
		}
	}
	return a, fmt.Errorf("%s/kwok.yaml has no KwokctlConfiguration", c.folder())
}

// launch starts a component as kwokctl does.
func (c *Cluster) launch(how component) error {
	log, err := os.OpenFile(c.log(how.Name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(how.Binary, how.Args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.Env = how.WorkDir, log, log, os.Environ()
	for _, env := range how.Envs {
		cmd.Env = append(cmd.Env, env.Name+"="+env.Value)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }() // so that it is gone when it has ended
	return nil
}
