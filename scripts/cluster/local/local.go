// Package local makes a cluster on this machine without containers: kwokctl runs a real
// etcd, kube-apiserver, kube-scheduler and kube-controller-manager, on loopback only, and
// kwok plays a node. A test can take a throw-away cluster apart with Kill, Signal and Restart.
package local

import (
	"bytes"
	"cmp"
	"context"
	_ "embed" // the configuration
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"text/template"
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

// Options say what to start and where.
type Options struct {
	// Dir takes all files. It is an absolute path, and removed with the cluster.
	Dir string

	// Name of the cluster and of its context in the kubeconfig. Default: informer.
	Name string

	// Disable names components to leave out. Without the controller manager no namespace
	// gets a service account, and without one the API server refuses pods.
	Disable []string

	// APIServerArgs are flags for kube-apiserver, each "--key=value", after the usual ones.
	APIServerArgs []string

	// Lasting lets the cluster outlive this process. Any other ends with it, even if it
	// is killed.
	Lasting bool

	binaries.Options // of the programs; Progress is required
}

// A Cluster is one that Start started.
type Cluster struct {
	opts    Options
	kubectl string
	ports   []int
	guard   *guard // nil if it is lasting
}

// readyWithin is the time to become ready, once the programs are there. It ends a hang: a
// component that cannot run is reported earlier.
const readyWithin = 5 * time.Minute

// Start returns when pods can be created, as far as the components that are not
// disabled let it come to that. On an error, and when ctx ends first, nothing is left.
func Start(ctx context.Context, opts Options) (_ *Cluster, err error) {
	if !filepath.IsAbs(opts.Dir) { // never the working directory by accident
		return nil, fmt.Errorf("local.Options.Dir is %q: want an absolute path", opts.Dir)
	}
	opts.Name = cmp.Or(opts.Name, "informer")
	programs, err := binaries.Get(ctx, opts.Options, binaries.ControlPlane...)
	if err != nil {
		return nil, err
	}
	c := &Cluster{opts: opts}
	if c.kubectl, err = binaries.Kubectl(ctx, opts.Options); err != nil {
		return nil, err
	}
	if !opts.Lasting {
		if c.guard, err = startGuard(opts.Dir); err != nil {
			return nil, err
		}
	}
	late := fmt.Errorf("the cluster was not ready after %s", readyWithin)
	ctx, cancel := context.WithTimeoutCause(ctx, readyWithin, late)
	defer cancel()
	err = c.create(ctx, programs)
	if err != nil && strings.Contains(err.Error(), "address already in use") { // another process was faster
		if err = Remove(opts.Dir); err == nil {
			err = c.create(ctx, programs)
		}
	}
	if err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

// create has kwokctl make the cluster, and waits until it is ready.
func (c *Cluster) create(ctx context.Context, programs string) error {
	// what runs below our folder is ours, kwokctl itself included
	bin := c.path("bin")
	err := errors.Join(os.MkdirAll(bin, 0o700), os.Symlink(c.kubectl, filepath.Join(bin, "kubectl")),
		os.Symlink(filepath.Join(programs, "kwokctl"), filepath.Join(bin, "kwokctl")),
		os.Symlink(programs, c.path("programs")), // so that the configuration need not quote a path
		os.WriteFile(c.path("node.yaml"), node, 0o600), c.writeConfig(c.path("kwokctl.yaml")))
	if err != nil {
		return err
	}
	fmt.Fprintln(c.opts.Progress, "starting the control plane:", strings.Join(c.components(), ", "))

	ctx, cancel := context.WithCancelCause(ctx)
	var keeper sync.WaitGroup
	keeper.Go(func() {
		if err := c.keepRunning(ctx); err != nil {
			cancel(err)
		}
	})
	defer keeper.Wait()
	defer cancel(nil)
	err = c.start(ctx, bin)
	if cause := context.Cause(ctx); cause != nil && !errors.Is(err, cause) {
		return cause // err says only that kwokctl or kubectl was killed then
	}
	return err
}

// start runs kwokctl, and returns when the cluster is ready, or ctx ends.
func (c *Cluster) start(ctx context.Context, bin string) error {
	cmd := exec.CommandContext(ctx, filepath.Join(bin, "kwokctl"), "create", "cluster", "--name", c.opts.Name,
		"--config", "kwokctl.yaml", "--kubeconfig", "", "--wait", "0s") // a path is split at commas
	// kwokctl reads and writes below its home, and so does what it calls. (It would cut the path in
	// KWOK_WORKDIR at the first space, and work outside of our folder.)
	cmd.Env = append(os.Environ(), "HOME="+c.opts.Dir, "KWOK_WORKDIR=", "KUBECONFIG=",
		"PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	cmd.Dir = c.opts.Dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for us: we clean up
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("kwokctl create cluster: %w: %s", err, lastLine(said))
	}
	// a kubeconfig that needs no other file
	flat, err := binaries.RunKubectl(ctx, filepath.Join(bin, "kubectl"), filepath.Join(c.folder(), "kubeconfig.yaml"),
		"config", "view", "--flatten", "--raw")
	if err != nil {
		return err
	}
	if err := os.WriteFile(c.Kubeconfig(), []byte(flat), 0o600); err != nil {
		return err
	}
	if err := c.await(ctx); err != nil {
		return err
	}
	return c.awaitComponents(ctx)
}

// await returns when pods can be created, as far as it comes to that.
func (c *Cluster) await(ctx context.Context) error {
	var wanted [][]string
	if !c.disabled(Node) {
		wanted = append(wanted, []string{"create", "-f", c.path("node.yaml")}, binaries.NodesReady)
	}
	if !c.disabled(ControllerManager) {
		wanted = append(wanted, binaries.AccountCreated, binaries.RootCAPublished)
	}
	return binaries.Await(ctx, c.kubectl, c.Kubeconfig(), wanted...)
}

var (
	//go:embed kwokctl.yaml
	config string
	//go:embed stages.yaml
	stages string
	//go:embed node.yaml
	node []byte
)

// writeConfig writes the configuration of kwokctl.
func (c *Cluster) writeConfig(file string) error {
	var err error
	if c.ports, err = freePorts(6); err != nil {
		return err
	}
	type arg struct{ Key, Value string }
	var args []arg
	for _, flag := range c.opts.APIServerArgs {
		key, value, _ := strings.Cut(strings.TrimPrefix(flag, "--"), "=")
		args = append(args, arg{key, value})
	}
	var text bytes.Buffer
	err = template.Must(template.New("").Parse(config)).Execute(&text, map[string]any{
		"Version": binaries.KubernetesVersion(), "Disable": c.opts.Disable, "Ports": c.ports,
		"APIServerArgs": args})
	if err != nil {
		return err
	}
	text.WriteString(stages)
	return os.WriteFile(file, text.Bytes(), 0o600)
}

// freePorts finds ports at random.
func freePorts(n int) (ports []int, err error) {
	for range n {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer listener.Close() // when all are found, so that they differ
		ports = append(ports, listener.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}

func (c *Cluster) path(name string) string { return filepath.Join(c.opts.Dir, name) }

// Kubeconfig is the path of a kubeconfig for the cluster's administrator.
func (c *Cluster) Kubeconfig() string { return c.path("kubeconfig") }

// folder is kwokctl's, with logs, certificates, data and programs.
func (c *Cluster) folder() string { return filepath.Join(c.opts.Dir, ".kwok", "clusters", c.opts.Name) }

// Stop ends all processes of the cluster, waits until they are gone, and removes its
// files.
func (c *Cluster) Stop() error {
	if c.guard != nil {
		return c.guard.end()
	}
	return Remove(c.opts.Dir)
}
