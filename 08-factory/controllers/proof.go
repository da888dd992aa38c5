// The proof from start to end, and the control plane that it has to itself.

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"

	"example.com/informer/scripts/cluster/binaries"
	"example.com/informer/scripts/cluster/local"
)

// prove leaves no process and no goroutine behind. If it fails, the controllers' log
// stays; the error says where.
func prove(ctx context.Context, out, progress io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "informer-proof-")
	if err != nil {
		return fmt.Errorf("making a folder for a control plane: %w", err)
	}
	defer func() {
		if err == nil || ctx.Err() != nil {
			err = errors.Join(err, os.RemoveAll(dir))
			return
		}
		_ = os.Remove(dir) // if it has come to no log
	}()
	plane, err := local.Start(ctx, local.Options{Dir: filepath.Join(dir, "plane"),
		Options: binaries.Options{Progress: progress}, Disable: []string{local.ControllerManager},
		// a new node has a taint, which only a controller would remove
		APIServerArgs: []string{"--disable-admission-plugins=TaintNodesByCondition"}})
	if err != nil {
		return fmt.Errorf("starting a control plane without controllers: %w", err)
	}
	defer func() { err = errors.Join(err, plane.Stop()) }()

	log := filepath.Join(dir, "proof.log")
	if err := logTo(log); err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", plane.Kubeconfig())
	if err != nil {
		return err
	}
	config.QPS = -1                           // the API server rations its clients itself
	config.WarningHandler = rest.NoWarnings{} // the garbage collector watches old kinds too
	fmt.Fprintf(out, "# a control plane without controllers: %s\n", strings.Join(running(plane), ", "))
	err = scenario(ctx, config, out, progress)
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("%w\nlog: %s", err, log)
	}
	return err
}

// running names the components that run.
func running(plane *local.Cluster) (names []string) {
	for _, c := range []string{local.Etcd, local.APIServer, local.Scheduler, local.ControllerManager, local.Node} {
		if plane.PID(c) != 0 {
			names = append(names, c)
		}
	}
	return names
}

// logTo sends what the controllers log to a file, from now on.
func logTo(path string) error {
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("the controllers' log: %w", err)
	}
	klog.SetSlogLogger(slog.New(slog.NewTextHandler(file, nil)))
	return nil
}

// scenario looks at a Deployment first without controllers, then with them.
func scenario(ctx context.Context, config *rest.Config, out, progress io.Writer) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	d := &deployment{client, out}
	if err := run(ctx, d.alone()); err != nil {
		return err
	}
	fmt.Fprintln(progress, "starting the controllers, on the informers of this workspace")
	ctx, ours, err := startManager(ctx, config, client)
	if err != nil {
		return err
	}
	defer ours.stop()
	fmt.Fprintln(out, "# the controllers of Kubernetes start, on our factory")
	return run(ctx, d.life(ours))
}

func run(ctx context.Context, steps []step) error {
	for _, do := range steps {
		if err := do(ctx); err != nil {
			return err
		}
	}
	return nil
}
