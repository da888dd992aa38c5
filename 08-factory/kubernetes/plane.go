// The control plane for the step: a local cluster without controllers.

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/klog/v2"

	"example.com/informer/scripts/cluster/binaries"
	"example.com/informer/scripts/cluster/local"
	"example.com/informer/scripts/harness/session"
	"example.com/informer/scripts/harness/step/play"
	"example.com/informer/scripts/harness/workspace"
)

// namespace is the namespace of the step. It is not a new one, because a new namespace gets no
// service account while no controllers run.
const namespace = "default"

// A plane is a control plane without controllers. It implements play.Cluster.
type plane struct {
	*session.Session
	cluster *local.Cluster
}

func (p *plane) Namespace() string { return namespace }
func (p *plane) Watching() bool    { return true }

// startPlane starts a control plane. If it fails, no processes and no files are left.
func startPlane(ctx context.Context, _ time.Duration) (_ play.Cluster, err error) {
	if err := logToFile(); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "informer-kubernetes-")
	if err != nil {
		return nil, fmt.Errorf("making a folder for a control plane: %w", err)
	}
	cluster, err := local.Start(ctx, local.Options{
		Dir:     dir,
		Options: binaries.Options{Progress: os.Stderr},
		Disable: []string{local.ControllerManager},
		// Without this, a new node would have a taint, which only a controller removes.
		APIServerArgs: []string{"--disable-admission-plugins=TaintNodesByCondition"},
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting a control plane without controllers: %w", err), os.RemoveAll(dir))
	}
	s, err := session.Open(ctx, session.Options{Kubeconfig: cluster.Kubeconfig(), Namespace: namespace})
	if err != nil {
		return nil, errors.Join(err, cluster.Stop())
	}
	return &plane{Session: s, cluster: cluster}, nil
}

// Close ends all processes, and removes all files except the log.
func (p *plane) Close(ctx context.Context) error {
	return errors.Join(p.Session.Close(ctx), p.cluster.Stop())
}

// components returns the names of the components that run.
func (p *plane) components() string {
	var names []string
	for _, c := range []string{local.Etcd, local.APIServer, local.Scheduler, local.ControllerManager, local.Node} {
		if p.cluster.PID(c) != 0 {
			names = append(names, c)
		}
	}
	return strings.Join(names, ", ")
}

// logToFile sends the log of the controllers to the file .cluster/controllers.log. Read it if a
// controller does not work.
func logToFile() error {
	root, err := workspace.Clone(".")
	if err != nil {
		return err
	}
	path := filepath.Join(root, ".cluster", "controllers.log")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("the controllers' log: %w", err)
	}
	klog.SetSlogLogger(slog.New(slog.NewTextHandler(file, nil)))
	return nil
}
