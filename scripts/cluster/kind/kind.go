// Package kind makes and removes clusters of containers, with kind as a library.
package kind

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"sigs.k8s.io/kind/pkg/apis/config/defaults"
	"sigs.k8s.io/kind/pkg/cluster"
	"sigs.k8s.io/kind/pkg/cmd"
	kindexec "sigs.k8s.io/kind/pkg/exec"

	"example.com/informer/scripts/cluster/binaries"
)

// answerWithin is how long an engine may take to answer. A test sets a shorter time.
var answerWithin = 5 * time.Second

const (
	readyWithin    = 3 * time.Minute
	deleteEvery    = 500 * time.Millisecond
	giveUpWithin   = time.Minute // how long kind may take to notice that its nodes are gone
	explainedLines = 5           // of the engine's output, in an error
)

// ErrNoEngine says that kind cannot be used on this machine.
var ErrNoEngine = errors.New("no container engine answers (docker, podman or nerdctl): start one, " +
	"or use scripts/local-up.sh, which needs none")

// A Provider makes clusters with an engine that answers.
type Provider struct{ kind *cluster.Provider }

// Find finds an engine: docker, nerdctl or podman, the first one that is installed. The error is
// ErrNoEngine if none is installed, or if that one does not answer. kind takes no context, so that
// its question is left behind then.
func Find() (*Provider, error) {
	option, err := cluster.DetectNodeProvider()
	if err != nil {
		return nil, ErrNoEngine
	}
	p := &Provider{cluster.NewProvider(option, cluster.ProviderWithLogger(cmd.NewLogger()))}
	listed := make(chan error, 1)
	go func() {
		_, err := p.kind.List()
		listed <- err
	}()
	select {
	case err := <-listed:
		if err != nil {
			return nil, ErrNoEngine
		}
		return p, nil
	case <-time.After(answerWithin):
		return nil, ErrNoEngine
	}
}

// Create makes a cluster, and returns when pods can be created. It writes the kubeconfig to the
// given file only. On an error, and when ctx ends first, nothing is left of the cluster.
func (p *Provider) Create(ctx context.Context, name, kubeconfig, kubectl string) error {
	if err := p.create(ctx, name, kubeconfig); err != nil {
		return errors.Join(err, p.Delete(name, kubeconfig))
	}
	if err := await(ctx, kubectl, kubeconfig); err != nil {
		return errors.Join(err, p.Delete(name, kubeconfig))
	}
	return nil
}

// await returns when pods can be created.
func await(ctx context.Context, kubectl, kubeconfig string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, readyWithin,
		fmt.Errorf("the kind cluster was not ready after %s", readyWithin))
	defer cancel()
	return binaries.Await(ctx, kubectl, kubeconfig, binaries.NodesReady, binaries.AccountCreated,
		binaries.RootCAPublished)
}

// create runs kind's Create, which takes no context. When ctx ends, create deletes the nodes, so
// that kind's Create fails.
func (p *Provider) create(ctx context.Context, name, kubeconfig string) error {
	image := os.Getenv("KIND_NODE_IMAGE")
	if image == "" {
		image = defaults.Image
	}
	_ = os.Remove(kubeconfig + ".lock") // kind leaves it behind if it is killed
	var err error
	created := make(chan struct{}) // closed when err is set
	go func() {
		defer close(created)
		err = p.kind.Create(name, cluster.CreateWithNodeImage(image), cluster.CreateWithKubeconfigPath(kubeconfig))
	}()
	select {
	case <-created:
		return explain("create the kind cluster", err)
	case <-ctx.Done():
	}
	for deadline := time.Now().Add(giveUpWithin); time.Now().Before(deadline); {
		_ = p.Delete(name, kubeconfig) // again and again, because kind may be about to make another node
		select {
		case <-created:
			time.Sleep(deleteEvery) // the engine may still make a node; Create deletes it afterwards
			return context.Cause(ctx)
		case <-time.After(deleteEvery):
		}
	}
	return context.Cause(ctx) // kind may still pull an image; Create deletes the cluster afterwards
}

// Exists reports whether there are containers of a cluster, including stopped ones. It returns true
// if the engine does not answer, because then a cluster may exist.
func (p *Provider) Exists(name string) bool {
	nodes, err := p.kind.ListNodes(name)
	return err != nil || len(nodes) > 0
}

// Delete removes a cluster if there is one, and its entries in a kubeconfig.
func (p *Provider) Delete(name, kubeconfig string) error {
	return explain("remove the kind cluster", p.kind.Delete(name, kubeconfig))
}

// explain adds the last lines of the engine's output to an error. kind's own error does not have
// them.
func explain(action string, err error) error {
	if err == nil {
		return nil
	}
	if failed := kindexec.RunErrorForError(err); failed != nil {
		lines := strings.Split(strings.TrimSpace(string(failed.Output)), "\n")
		err = fmt.Errorf("%w\n  %s", err, strings.Join(lines[max(0, len(lines)-explainedLines):], "\n  "))
	}
	return fmt.Errorf("%s: %w", action, err)
}
