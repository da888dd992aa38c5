// The components of a cluster: which ones run, and how a component that has ended is started again.

package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"sigs.k8s.io/yaml"

	"example.com/informer/scripts/cluster/binaries"
)

const (
	lookEvery = 100 * time.Millisecond
	maxEnds   = 3 // a component that has ended so often cannot run
)

// components returns the components that are not disabled.
func (c *Cluster) components() []string {
	return slices.DeleteFunc([]string{Etcd, APIServer, ControllerManager, Scheduler, Node}, c.disabled)
}

func (c *Cluster) disabled(component string) bool { return slices.Contains(c.opts.Disable, component) }

// Resume starts the components of a lasting cluster again that have ended, with the same ports and
// data, and returns when the cluster is ready. It leaves a cluster alone that has no process at all:
// after a reboot, another program may listen on one of the ports.
func Resume(ctx context.Context, opts Options) (err error) {
	c := &Cluster{opts: opts}
	ended := c.endedComponents()
	if len(ended) == 0 || len(ended) == len(c.components()) {
		return nil
	}
	fmt.Fprintln(opts.Progress, "parts of the cluster have ended, and are started again:", strings.Join(ended, ", "))
	c.kubectl, err = binaries.Kubectl(ctx, opts.Options)
	if err != nil {
		return err
	}
	return c.whileKept(ctx, func(ctx context.Context) error {
		if err := binaries.Await(ctx, c.kubectl, c.Kubeconfig()); err != nil {
			return err
		}
		return c.awaitComponents(ctx)
	})
}

// whileKept calls start, and starts components again that end meanwhile.
func (c *Cluster) whileKept(ctx context.Context, start func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	var keeper sync.WaitGroup
	keeper.Go(func() {
		if err := c.keepRunning(ctx); err != nil {
			cancel(err)
		}
	})
	defer keeper.Wait()
	defer cancel(nil)
	err := start(ctx)
	if cause := context.Cause(ctx); cause != nil && !errors.Is(err, cause) {
		return cause // err says only that kwokctl or kubectl was killed
	}
	return err
}

// keepRunning starts components again that end, as a kubelet does, until ctx ends. On a slow
// machine the controller manager gives up before the API server is ready. keepRunning returns an
// error if a component has ended too often.
func (c *Cluster) keepRunning(ctx context.Context) error {
	ends := map[string]int{}
	for sleep(ctx) {
		for _, component := range c.endedComponents() {
			// Without an API server, the others would only give up again.
			if component != Etcd && component != APIServer && c.answers(ctx) != nil {
				continue
			}
			ends[component]++
			if ends[component] == maxEnds {
				return fmt.Errorf("%s has ended %d times: %s", component, maxEnds, c.lastLogLine(component))
			}
			if err := c.run(component); err != nil {
				return fmt.Errorf("starting %s again: %w", component, err)
			}
		}
	}
	return nil
}

// endedComponents returns the components that kwokctl has started, and that do not run any more.
func (c *Cluster) endedComponents() (ended []string) {
	running := Processes(c.folder())
	for _, component := range c.components() {
		if _, runs := running[component]; !runs && c.wasStarted(component) {
			ended = append(ended, component)
		}
	}
	return ended
}

// sleep waits until the time of the next look. It returns false if ctx ends first.
func sleep(ctx context.Context) bool {
	select {
	case <-time.After(lookEvery):
		return true
	case <-ctx.Done():
		return false
	}
}

// awaitComponents returns when all components run.
func (c *Cluster) awaitComponents(ctx context.Context) error {
	for sleep(ctx) {
		running := Processes(c.folder())
		missing := slices.ContainsFunc(c.components(), func(component string) bool {
			return running[component].PID == 0
		})
		if !missing {
			return nil
		}
	}
	return context.Cause(ctx)
}

// wasStarted reports whether kwokctl has started a component. kwokctl writes a file with the pid
// when it does.
func (c *Cluster) wasStarted(component string) bool {
	_, err := os.Stat(filepath.Join(c.folder(), "pids", component+".pid"))
	return err == nil
}

// answers asks whether the API server is ready. It uses the kubeconfig that kwokctl writes at the
// beginning.
func (c *Cluster) answers(ctx context.Context) error {
	return binaries.Answers(ctx, c.kubectl, filepath.Join(c.folder(), "kubeconfig.yaml"))
}

// run starts a component as kwokctl does.
func (c *Cluster) run(component string) error {
	cmd, err := c.Command(component)
	if err != nil {
		return err
	}
	log, err := os.OpenFile(c.log(component), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // a Ctrl-C in the terminal does not reach it
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release() // Processes finds it by its command line, as all others
}

// Command returns the command of a component, as kwokctl has written it into kwok.yaml.
func (c *Cluster) Command(component string) (*exec.Cmd, error) {
	text, err := os.ReadFile(filepath.Join(c.folder(), "kwok.yaml"))
	if err != nil {
		return nil, err
	}
	var config struct {
		Components []struct {
			Name, Binary string
			Args         []string
		}
	}
	if err := yaml.Unmarshal(text, &config); err != nil {
		return nil, fmt.Errorf("reading kwok.yaml: %w", err)
	}
	for _, found := range config.Components {
		if found.Name == component {
			cmd := exec.Command(found.Binary, found.Args...)
			cmd.Dir = c.folder() // some arguments are paths relative to it
			return cmd, nil
		}
	}
	return nil, fmt.Errorf("kwok.yaml has no component %s", component)
}

func (c *Cluster) log(component string) string {
	return filepath.Join(c.folder(), "logs", component+".log")
}

func (c *Cluster) lastLogLine(component string) string {
	text, _ := os.ReadFile(c.log(component))
	return lastLine(text)
}

func lastLine(text []byte) string {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return lines[len(lines)-1]
}
