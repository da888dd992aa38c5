// The control plane that the controllers have to themselves.

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/klog/v2"

	"example.com/informer/scripts/cluster/binaries"
	"example.com/informer/scripts/cluster/local"
	"example.com/informer/scripts/harness/session"
	"example.com/informer/scripts/harness/step/play"
	"example.com/informer/scripts/harness/workspace"
)

// namespace is where all happens. Without controllers, a new one would get no
// service account.
const namespace = "default"

// A plane is a control plane without controllers, as the player needs it.
type plane struct {
	*session.Session
	cluster *local.Cluster
}

func (p *plane) Namespace() string { return namespace }
func (p *plane) Watching() bool    { return true }

// startPlane leaves nothing behind if it fails.
func startPlane(ctx context.Context) (_ play.Cluster, err error) {
	if err := logToFile(); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "informer-controllers-")
	if err != nil {
		return nil, fmt.Errorf("making a folder for a control plane: %w", err)
	}
	cluster, err := local.Start(ctx, local.Options{Dir: dir,
		Options: binaries.Options{Progress: os.Stderr}, Disable: []string{local.ControllerManager},
		// a new node has a taint, which only a controller would remove
		APIServerArgs: []string{"--disable-admission-plugins=TaintNodesByCondition"}})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting a control plane without controllers: %w", err), os.RemoveAll(dir))
	}
	s, err := session.Open(ctx, session.Options{Kubeconfig: cluster.Kubeconfig(), Namespace: namespace})
	if err != nil {
		return nil, errors.Join(err, cluster.Stop())
	}
	return &plane{s, cluster}, nil
}

// Close ends all processes, and removes all files but the log.
func (p *plane) Close(ctx context.Context) error {
	return errors.Join(p.Session.Close(ctx), p.cluster.Stop())
}

// components names those that run.
func (p *plane) components() string {
	var names []string
	for _, c := range []string{local.Etcd, local.APIServer, local.Scheduler, local.ControllerManager, local.Node} {
		if p.cluster.PID(c) != 0 {
			names = append(names, c)
		}
	}
	return strings.Join(names, ", ")
}

// logToFile sends what the controllers log to a file, where it is found if they
// do not do as expected.
func logToFile() error {
	root, err := workspace.Root(".")
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
