// Package kind makes and removes a cluster of containers, with kind as a library.
package kind

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sigs.k8s.io/kind/pkg/apis/config/defaults"
	"sigs.k8s.io/kind/pkg/cluster"
	"sigs.k8s.io/kind/pkg/cluster/nodes"
	kindexec "sigs.k8s.io/kind/pkg/exec"

	"example.com/informer/scripts/cluster/internal/filelock"
	"example.com/informer/scripts/cluster/internal/ready"
)

// Name of the cluster. Its node is called informer-control-plane.
const Name = "informer"

const (
	readyWithin = 3 * time.Minute
	deleteEvery = 500 * time.Millisecond
)

// Up makes the cluster, or takes the one that is there, writes its kubeconfig to
// the file kubeconfig (and nowhere else), and returns when pods can be created.
// On an error, and when ctx ends first, a cluster that it began to make is gone.
func Up(ctx context.Context, kubeconfig string, progress io.Writer) (made bool, err error) {
	e, provider, found, err := open(ctx, progress)
	if err != nil {
		return false, err
	}
	if len(found) == 0 {
		if err := create(ctx, e, provider, progress); err != nil {
			return false, err
		}
		defer func() {
			if err != nil {
				made, err = false, errors.Join(err, remove(provider))
			}
		}()
	}
	for _, n := range found { // after a reboot, say
		if _, err := e.run(ctx, "start", n.String()); err != nil {
			return false, err
		}
	}
	content, err := provider.KubeConfig(Name, false)
	if err != nil {
		return false, explain("read the kubeconfig of the kind cluster", err)
	}
	if err := filelock.WriteFile(kubeconfig, []byte(content), 0o600); err != nil {
		return false, err
	}
	fmt.Fprintln(progress, "waiting for the node and the default service account")
	ctx, cancel := context.WithTimeoutCause(ctx, readyWithin,
		fmt.Errorf("the kind cluster was not ready after %s (scripts/kind-down.sh removes it)", readyWithin))
	defer cancel()
	return len(found) == 0, ready.Wait(ctx, kubeconfig, ready.Pods, func() error { return nil })
}

// Down removes the cluster and says whether there was one.
func Down(ctx context.Context, progress io.Writer) (was bool, err error) {
	_, provider, found, err := open(ctx, progress)
	if err != nil || len(found) == 0 {
		return false, err
	}
	return true, remove(provider)
}

// open finds an engine, and the nodes of the cluster that run there or ran.
func open(ctx context.Context, progress io.Writer) (engine, *cluster.Provider, []nodes.Node, error) {
	e, err := detect(ctx)
	if err != nil {
		return e, nil, nil, err
	}
	provider := cluster.NewProvider(e.provider(), cluster.ProviderWithLogger(logger{progress: progress}))
	found, err := provider.ListNodes(Name)
	return e, provider, found, explain("list the nodes of kind", err)
}

// create runs kind's Create, which knows no context: when ctx ends, the nodes
// are deleted under its feet until it gives up.
func create(ctx context.Context, e engine, provider *cluster.Provider, progress io.Writer) error {
	image := os.Getenv("KIND_NODE_IMAGE")
	if image == "" {
		image = defaults.Image
	}
	if err := pull(ctx, e, image, progress); err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "informer-kind-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)

	created := make(chan error, 1)
	go func() {
		created <- provider.Create(Name,
			cluster.CreateWithNodeImage(image),
			// Never the user's own file; and not ours, where kind would leave a
			// lock behind if it were killed.
			cluster.CreateWithKubeconfigPath(filepath.Join(scratch, "kubeconfig")))
	}()
	tick := time.NewTicker(deleteEvery)
	defer tick.Stop()
	for {
		select {
		case err := <-created:
			if err != nil || ctx.Err() != nil {
				return errors.Join(context.Cause(ctx), explain("create the kind cluster", err), remove(provider))
			}
			return nil
		case <-tick.C:
			if ctx.Err() != nil {
				_ = remove(provider) // again and again, as it may be about to make another node
			}
		}
	}
}

// pull fetches the node image if the engine does not have it. kind would do so
// too, but could not be stopped at it.
func pull(ctx context.Context, e engine, image string, progress io.Writer) error {
	if _, err := e.run(ctx, "image", "inspect", image); err == nil {
		return nil
	}
	name, _, _ := strings.Cut(image, "@")
	fmt.Fprintf(progress, "pulling the node image %s\n", name)
	if _, err := e.run(ctx, "pull", image); err != nil {
		return fmt.Errorf(
			"the node image cannot be had: %w\nset KIND_NODE_IMAGE to an image that the engine has, or use "+
				"scripts/local-up.sh", err)
	}
	return nil
}

// remove deletes the nodes. kind also strikes the cluster out of a kubeconfig:
// it gets an empty one, never the user's own.
func remove(provider *cluster.Provider) error {
	scratch, err := os.MkdirTemp("", "informer-kind-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	return explain("remove the kind cluster", provider.Delete(Name, filepath.Join(scratch, "kubeconfig")))
}

// explain adds the last lines of what the engine said, which kind keeps to itself.
func explain(doing string, err error) error {
	if err == nil {
		return nil
	}
	if failed := kindexec.RunErrorForError(err); failed != nil {
		const kept = 5
		lines := strings.Split(strings.TrimSpace(string(failed.Output)), "\n")
		return fmt.Errorf("%s: %w\n  %s", doing, err, strings.Join(lines[max(0, len(lines)-kept):], "\n  "))
	}
	return fmt.Errorf("%s: %w", doing, err)
}
