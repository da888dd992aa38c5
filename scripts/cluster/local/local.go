// Package local runs a real Kubernetes control plane on this machine without
// containers: etcd, kube-apiserver, kube-scheduler, the controllers of
// namespaces and Deployments, and a simulated node, on loopback only.
//
// A test gets a throw-away control plane of its own with Start and Stop:
//
//	cp, err := local.Start(ctx, local.Options{Dir: t.TempDir()})
//	...
//	defer cp.Stop()
//
// and can take it apart with Kill, Signal and Restart.
package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"example.com/informer/scripts/cluster/internal/ready"
)

// Options say what to start and where. Only Dir is required.
type Options struct {
	// Dir takes all files: kubeconfig, pids, logs/ and data/. Whatever an
	// earlier control plane left in it is removed, its data included.
	Dir string
	// APIOnly leaves out scheduler, controllers and node: nothing changes
	// objects but the caller. Pods can be created, and stay Pending.
	APIOnly bool
	// NoControllers leaves out the controllers alone, for a caller who runs
	// some. Until those have made a service account, pods are refused.
	NoControllers bool
	// Detached lets the processes outlive this one. Otherwise they are killed
	// with it (on Linux; elsewhere only Stop ends them).
	Detached bool
	// APIServerArgs are flags for kube-apiserver, added after the usual ones.
	APIServerArgs []string
	// Progress takes a line for each thing that takes long. Default: nowhere.
	Progress io.Writer
}

// ControlPlane is one that Start started. Its methods can be called from
// several goroutines.
type ControlPlane struct {
	opts     Options
	binaries binaries
	port     int // the API server's

	mu        sync.Mutex
	processes map[Component]*process // started and not known to have ended
}

// readyWithin is the time to become ready, not counting the build; a test has less.
var readyWithin = 2 * time.Minute

// attempts is how often Start tries again with another port, when some other
// process took it between its choice and its use.
const attempts = 3

// Start runs what $KUBEBUILDER_ASSETS holds, a kube-apiserver and an etcd, or else
// those that are built from the workspace's scripts/controlplane.
// It returns when the API server is ready, the node is Ready and pods can be
// created, as far as the options let it come to that. On an error, and when ctx
// ends first, nothing is left running.
func Start(ctx context.Context, opts Options) (*ControlPlane, error) {
	if opts.Progress == nil {
		opts.Progress = io.Discard
	}
	if opts.Dir == "" { // never the working directory by accident
		return nil, errors.New("local.Options.Dir is empty")
	}
	var err error
	if opts.Dir, err = filepath.Abs(opts.Dir); err != nil {
		return nil, err
	}
	bin, err := findBinaries(ctx, opts)
	if err != nil {
		return nil, err
	}
	for n := 1; ; n++ {
		cp := &ControlPlane{opts: opts, binaries: bin, processes: map[Component]*process{}}
		err := cp.start(ctx)
		if err == nil {
			return cp, nil
		}
		err = errors.Join(err, cp.stop())
		if n == attempts || !errors.Is(err, errPortBusy) || ctx.Err() != nil {
			bin.release()
			return nil, err
		}
		fmt.Fprintln(opts.Progress, "another process took the port meanwhile; trying another port")
	}
}

func (cp *ControlPlane) start(ctx context.Context) (err error) {
	if err := clean(cp.opts.Dir); err != nil {
		return err
	}
	if cp.port, err = choosePort(); err != nil {
		return err
	}
	if err := writeCredentials(cp.opts.Dir, cp.port); err != nil {
		return fmt.Errorf("write certificates and kubeconfig under %s: %w", cp.opts.Dir, err)
	}
	fmt.Fprintln(cp.opts.Progress, "starting etcd and kube-apiserver")
	if err := cp.launch(Etcd, APIServer); err != nil {
		return err
	}
	if err := cp.await(ctx, ready.API, Etcd, APIServer); err != nil || cp.opts.APIOnly {
		return err
	}
	what, others, wanted := "scheduler, controllers and node", []Component{Scheduler, Controllers, Node}, ready.Pods
	if cp.opts.NoControllers {
		what, others, wanted = "scheduler and node", []Component{Scheduler, Node}, ready.Node
	}
	fmt.Fprintln(cp.opts.Progress, "starting", what)
	if err := cp.launch(others...); err != nil {
		return err
	}
	return cp.await(ctx, wanted, all...)
}

// await returns when what is wanted is there, one of the components ends, or the
// time is up.
func (cp *ControlPlane) await(ctx context.Context, wanted []ready.Check, components ...Component) error {
	ctx, cancel := context.WithTimeoutCause(ctx, readyWithin,
		fmt.Errorf("the control plane was not ready after %s", readyWithin))
	defer cancel()
	err := ready.Wait(ctx, cp.Kubeconfig(), wanted, func() error { return cp.ended(components) })
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("%w\nlogs: %s", err, logDir(cp.opts.Dir))
	}
	return err
}

// Kubeconfig is the path of a kubeconfig for the cluster's administrator.
func (cp *ControlPlane) Kubeconfig() string { return filepath.Join(cp.opts.Dir, "kubeconfig") }

// Stop ends all processes and waits until they are gone. Files stay. One that
// does not end, even when it is killed, is named in the error.
func (cp *ControlPlane) Stop() error {
	err := cp.stop()
	if err == nil {
		cp.binaries.release()
	}
	return err
}

// stop is Stop that keeps the binaries, for another attempt.
func (cp *ControlPlane) stop() error {
	cp.mu.Lock()
	defer cp.mu.Unlock()
	var list []target
	for _, p := range cp.processes {
		list = append(list, p)
	}
	if err := stop(list); err != nil {
		return notStopped(cp.opts.Dir, err)
	}
	clear(cp.processes)
	return removeRecords(cp.opts.Dir)
}

// clean removes what an earlier control plane left in dir. The caller has
// made sure that it no longer runs.
func clean(dir string) error {
	for _, name := range []string{"kubeconfig", "pids", "data", "logs"} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	for _, sub := range []string{dir, logDir(dir), pkiDir(dir)} {
		if err := os.MkdirAll(sub, 0o700); err != nil {
			return err
		}
	}
	return nil
}

func logDir(dir string) string  { return filepath.Join(dir, "logs") }
func dataDir(dir string) string { return filepath.Join(dir, "data") }
func pkiDir(dir string) string  { return filepath.Join(dataDir(dir), "pki") }
