// Package local makes a cluster on this machine without containers: kwokctl runs a real
// etcd, kube-apiserver, kube-scheduler and kube-controller-manager, on loopback only, and
// kwok plays a node.
//
// A test gets a throw-away cluster of its own with Start and Stop:
//
//	c, err := local.Start(ctx, local.Options{Dir: t.TempDir()})
//	...
//	defer c.Stop()
//
// and can take it apart with Kill, Signal and Restart.
package local

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"example.com/informer/scripts/cluster/binaries"
	"example.com/informer/scripts/cluster/ready"
)

// The components of a cluster.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
	Node              = "kwok-controller"
)

// Options say what to start and where. Only Dir is required.
type Options struct {
	// Dir takes all files. It is removed with the cluster.
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

	Build    bool      // the programs from Go modules, even where the network has them
	Progress io.Writer // takes a line for each thing that takes long. Default: nowhere
}

// A Cluster is one that Start started.
type Cluster struct {
	opts  Options
	guard *guard // nil if it is lasting
}

// readyWithin is the time to become ready, once the programs are there.
const readyWithin = 2 * time.Minute

// Start returns when pods can be created, as far as the components that are not
// disabled let it come to that. On an error, and when ctx ends first, nothing is left
// but, after an error, the logs.
func Start(ctx context.Context, opts Options) (_ *Cluster, err error) {
	if opts.Dir == "" { // never the working directory by accident
		return nil, errors.New("local.Options.Dir is empty")
	}
	if opts.Dir, err = filepath.Abs(opts.Dir); err != nil {
		return nil, err
	}
	if opts.Name == "" {
		opts.Name = "informer"
	}
	if opts.Progress == nil {
		opts.Progress = io.Discard
	}
	get := binaries.Options{Build: opts.Build, Progress: opts.Progress}
	folder, err := binaries.Get(ctx, get, binaries.ControlPlane...)
	if err != nil {
		return nil, err
	}
	kubectl, err := binaries.Kubectl(ctx, get)
	if err != nil {
		return nil, err
	}
	c := &Cluster{opts: opts}
	if !opts.Lasting {
		if c.guard, err = startGuard(opts.Dir); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, readyWithin, fmt.Errorf("the cluster was not ready after %s", readyWithin))
	defer cancel()
	if err := c.create(ctx, folder, kubectl); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

// create has kwokctl make the cluster, and waits until it is ready.
func (c *Cluster) create(ctx context.Context, folder, kubectl string) error {
	config, err := c.config(folder)
	if err != nil {
		return err
	}
	// what runs below our folder is ours, kwokctl itself included
	bin, file := filepath.Join(c.opts.Dir, "bin"), filepath.Join(c.opts.Dir, "kwokctl.yaml")
	err = errors.Join(os.MkdirAll(bin, 0o700), os.WriteFile(file, config, 0o600),
		os.Symlink(filepath.Join(folder, "kwokctl"), filepath.Join(bin, "kwokctl")),
		os.Symlink(kubectl, filepath.Join(bin, "kubectl")))
	if err != nil {
		return err
	}
	fmt.Fprintln(c.opts.Progress, "starting the control plane:", strings.Join(c.components(), ", "))
	cmd := exec.CommandContext(ctx, filepath.Join(bin, "kwokctl"), "create", "cluster", "--name", c.opts.Name,
		"--config", file, "--kubeconfig", "", "--wait", "0s")
	cmd.Dir = c.opts.Dir
	// kwokctl reads and writes below its workdir; with this home, what it calls does, too
	cmd.Env = append(os.Environ(), "KWOK_WORKDIR="+c.opts.Dir, "HOME="+c.opts.Dir, "KUBECONFIG=",
		"PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for us: we clean up
	cmd.WaitDelay = time.Second
	if said, err := cmd.CombinedOutput(); err != nil {
		return errors.Join(context.Cause(ctx), fmt.Errorf("kwokctl create cluster: %w\n%s", err, said))
	}
	if err := c.writeKubeconfig(); err != nil {
		return err
	}
	return c.await(ctx)
}

//go:embed stages.yaml
var stages string // what the node does

// config is the configuration of kwokctl: JSON, which is YAML, and the stages.
func (c *Cluster) config(folder string) ([]byte, error) {
	version, err := binaries.KubernetesVersion()
	if err != nil {
		return nil, err
	}
	type arg struct {
		Key   string `json:"key"`
		Value string `json:"value"`
	}
	args := []arg{{"endpoint-reconciler-type", "none"}} // a loopback address is no endpoint for the Service kubernetes
	for _, flag := range c.opts.APIServerArgs {
		key, value, _ := strings.Cut(strings.TrimPrefix(flag, "--"), "=")
		args = append(args, arg{key, value})
	}
	ports, err := freePorts(6)
	if err != nil {
		return nil, err
	}
	options := map[string]any{
		"runtime": "binary", "bindAddress": "127.0.0.1", "securePort": true, "kubeAuthorization": true,
		"kubeAdmission": true, "kubeVersion": version, "disable": c.opts.Disable,
		"etcdPort": ports[0], "etcdPeerPort": ports[1], "kubeApiserverPort": ports[2], "kwokControllerPort": ports[3],
		"kubeControllerManagerPort": ports[4], "kubeSchedulerPort": ports[5],
		"etcdBinary":                  filepath.Join(folder, "etcd"),
		"kubeApiserverBinary":         filepath.Join(folder, "kube-apiserver"),
		"kubeControllerManagerBinary": filepath.Join(folder, "kube-controller-manager"),
		"kubeSchedulerBinary":         filepath.Join(folder, "kube-scheduler"),
		"kwokControllerBinary":        filepath.Join(folder, "kwok"),
	}
	config, err := json.Marshal(map[string]any{
		"apiVersion": "config.kwok.x-k8s.io/v1alpha1", "kind": "KwokctlConfiguration", "options": options,
		"componentsPatches": []map[string]any{
			{"name": APIServer, "extraArgs": args},
			// nothing here must survive a power cut; kill -9 loses nothing
			{"name": Etcd, "extraArgs": []arg{{"unsafe-no-fsync", "true"}}},
			// there is one of each, and it need not wait for a lease
			{"name": ControllerManager, "extraArgs": []arg{{"leader-elect", "false"}}},
			{"name": Scheduler, "extraArgs": []arg{{"leader-elect", "false"}}},
		},
	})
	return append(append(config, "\n---\n"...), stages...), err
}

// freePorts finds ports at random: those that kwokctl would choose are the same for two
// clusters that start at the same time.
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

// writeKubeconfig writes a kubeconfig that needs no other file.
func (c *Cluster) writeKubeconfig() error {
	config, err := clientcmd.LoadFromFile(filepath.Join(c.folder(), "kubeconfig.yaml"))
	if err == nil {
		err = clientcmdapi.FlattenConfig(config)
	}
	if err == nil {
		err = clientcmd.WriteToFile(*config, c.Kubeconfig())
	}
	return err
}

// await returns when the cluster is ready, one of its components has ended, or ctx ends.
func (c *Cluster) await(ctx context.Context) error {
	wanted := ready.API()
	if !c.disabled(Node) {
		wanted = append(wanted, createNode, ready.Node)
	}
	if !c.disabled(ControllerManager) {
		wanted = append(wanted, ready.Pods()...)
	}
	return ready.Wait(ctx, c.Kubeconfig(), wanted, c.ended)
}

// createNode creates the node that kwok plays.
func createNode(ctx context.Context, client kubernetes.Interface) error {
	const name = "informer-node"
	_, err := client.CoreV1().Nodes().Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name,
		Labels: map[string]string{corev1.LabelHostname: name, corev1.LabelOSStable: "linux"}}}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// Kubeconfig is the path of a kubeconfig for the cluster's administrator.
func (c *Cluster) Kubeconfig() string { return filepath.Join(c.opts.Dir, "kubeconfig") }

// folder is kwokctl's, with logs, certificates, data and programs.
func (c *Cluster) folder() string { return filepath.Join(c.opts.Dir, "clusters", c.opts.Name) }

// Stop ends all processes of the cluster, waits until they are gone, and removes its
// files.
func (c *Cluster) Stop() error {
	if c.guard != nil {
		return c.guard.end()
	}
	return Remove(c.opts.Dir)
}
