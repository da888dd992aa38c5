// Package local makes a cluster on this machine without containers. kwokctl runs a real etcd,
// kube-apiserver, kube-scheduler and kube-controller-manager, on loopback only. kwok simulates a
// node. A test can break a cluster of its own with Kill, Signal and Restart.
package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"example.com/informer/scripts/cluster/binaries"
)

// The components of a cluster.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
	Node              = "kwok-controller"
)

// Options say which components to start, and where.
type Options struct {
	// Dir is the folder that takes all files. It is an absolute path. It is removed with the
	// cluster.
	Dir string

	// Name is the name of the cluster. The name of its context in the kubeconfig is "kwok-" and
	// this name. Default: informer.
	Name string

	// Disable names components to leave out. Without the controller manager no namespace gets a
	// service account, and without a service account the API server refuses pods.
	Disable []string

	// APIServerArgs are flags for kube-apiserver, each "--key=value", after the usual ones.
	APIServerArgs []string

	// Lasting lets the cluster outlive this process. A cluster that is not lasting ends with this
	// process, even if the process is killed.
	Lasting bool

	binaries.Options // of the programs; Progress is required
}

// A Cluster is a cluster that Start has started.
type Cluster struct {
	opts    Options
	kubectl string
	ports   ports
	guard   *guard // nil if the cluster is lasting
}

// readyWithin is how long a cluster may take to become ready, once its programs are there. It only
// ends a hang: keepRunning reports a component that cannot run earlier.
const readyWithin = 5 * time.Minute

// Start returns when pods can be created, as far as the components that are not disabled allow it.
// On an error, and when ctx ends first, nothing is left.
func Start(ctx context.Context, opts Options) (*Cluster, error) {
	if !filepath.IsAbs(opts.Dir) { // never the working directory by accident
		return nil, fmt.Errorf("local.Options.Dir is %q: want an absolute path", opts.Dir)
	}
	opts.Name = cmp.Or(opts.Name, "informer")
	programs, err := binaries.Get(ctx, opts.Options, binaries.ControlPlane...)
	if err != nil {
		return nil, err
	}
	kubectl, err := binaries.Kubectl(ctx, opts.Options)
	if err != nil {
		return nil, err
	}
	c := &Cluster{opts: opts, kubectl: kubectl}
	if !opts.Lasting {
		c.guard, err = startGuard(opts.Dir)
		if err != nil {
			return nil, err
		}
	}
	late := fmt.Errorf("the cluster was not ready after %s", readyWithin)
	ctx, cancel := context.WithTimeoutCause(ctx, readyWithin, late)
	defer cancel()
	if err := c.createWithFreePorts(ctx, programs); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

// createWithFreePorts is create with a second try: another process may take one of the ports first.
func (c *Cluster) createWithFreePorts(ctx context.Context, programs string) error {
	err := c.create(ctx, programs)
	if err == nil || !strings.Contains(err.Error(), "address already in use") {
		return err
	}
	if err := Remove(c.opts.Dir); err != nil {
		return err
	}
	return c.create(ctx, programs)
}

// create makes the cluster, and waits until it is ready.
func (c *Cluster) create(ctx context.Context, programs string) error {
	if err := c.writeFiles(programs); err != nil {
		return err
	}
	fmt.Fprintln(c.opts.Progress, "starting the control plane:", strings.Join(c.components(), ", "))
	return c.whileKept(ctx, c.start)
}

// writeFiles makes the folder of the cluster. All programs of the cluster, including kwokctl, run
// from links in this folder: that is how Processes finds them.
func (c *Cluster) writeFiles(programs string) error {
	if err := os.MkdirAll(c.path("bin"), 0o700); err != nil {
		return err
	}
	for link, target := range map[string]string{
		"bin/kubectl": c.kubectl,
		"bin/kwokctl": filepath.Join(programs, "kwokctl"),
		"programs":    programs, // so that the configuration need not quote a path
	} {
		if err := os.Symlink(target, c.path(link)); err != nil {
			return err
		}
	}
	if err := os.WriteFile(c.path("node.yaml"), node, 0o600); err != nil {
		return err
	}
	return c.writeConfig(c.path("kwokctl.yaml"))
}

// start runs kwokctl, and returns when the cluster is ready, or ctx ends.
func (c *Cluster) start(ctx context.Context) error {
	if err := c.runKwokctl(ctx); err != nil {
		return err
	}
	if err := c.writeKubeconfig(ctx); err != nil {
		return err
	}
	if err := c.await(ctx); err != nil {
		return err
	}
	return c.awaitComponents(ctx)
}

// runKwokctl starts the components. kwokctl and its children read and write below HOME.
// (KWOK_WORKDIR would not do: kwokctl cuts its path at the first space, and works outside of our
// folder.)
func (c *Cluster) runKwokctl(ctx context.Context) error {
	bin := c.path("bin")
	cmd := exec.CommandContext(ctx, filepath.Join(bin, "kwokctl"), "create", "cluster", "--name", c.opts.Name,
		"--config", "kwokctl.yaml", // not its whole path, which kwokctl would split at commas
		"--kubeconfig", "", "--wait", "0s")
	cmd.Env = append(os.Environ(), "HOME="+c.opts.Dir, "KWOK_WORKDIR=", "KUBECONFIG=",
		"PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	cmd.Dir = c.opts.Dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a Ctrl-C does not reach it: this process cleans up
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("kwokctl create cluster: %w: %s", err, lastLine(output))
	}
	return nil
}

// writeKubeconfig writes a kubeconfig that needs no other file.
func (c *Cluster) writeKubeconfig(ctx context.Context) error {
	flat, err := binaries.RunKubectl(ctx, c.path("bin/kubectl"), filepath.Join(c.folder(), "kubeconfig.yaml"),
		"config", "view", "--flatten", "--raw")
	if err != nil {
		return err
	}
	return os.WriteFile(c.Kubeconfig(), []byte(flat), 0o600)
}

// await returns when pods can be created, as far as the components that are not disabled allow it.
func (c *Cluster) await(ctx context.Context) error {
	var commands [][]string
	if !c.disabled(Node) {
		commands = append(commands, []string{"create", "-f", c.path("node.yaml")}, binaries.NodesReady)
	}
	if !c.disabled(ControllerManager) {
		commands = append(commands, binaries.AccountCreated, binaries.RootCAPublished)
	}
	return binaries.Await(ctx, c.kubectl, c.Kubeconfig(), commands...)
}

func (c *Cluster) path(name string) string { return filepath.Join(c.opts.Dir, name) }

// Kubeconfig returns the path of a kubeconfig for the cluster's administrator.
func (c *Cluster) Kubeconfig() string { return c.path("kubeconfig") }

// folder returns kwokctl's folder, with logs, certificates, data and programs.
func (c *Cluster) folder() string { return filepath.Join(c.opts.Dir, ".kwok", "clusters", c.opts.Name) }

// Stop kills all processes of the cluster, waits until they are gone, and removes the files.
func (c *Cluster) Stop() error {
	if c.guard != nil {
		return c.guard.end()
	}
	return Remove(c.opts.Dir)
}
