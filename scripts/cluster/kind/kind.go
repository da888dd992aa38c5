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

// answerWithin is how long an engine may take to answer; a test is in a hurry.
var answerWithin = 5 * time.Second

const (
	readyWithin  = 3 * time.Minute
	deleteEvery  = 500 * time.Millisecond
	giveUpWithin = time.Minute // how long kind may take to notice that its nodes are gone
)

// ErrNoEngine says that kind cannot be used on this machine.
var ErrNoEngine = errors.New("no container engine answers (docker, podman or nerdctl): start one, " +
	"or use scripts/local-up.sh, which needs none")

// A Provider makes clusters with the engine that answers.
type Provider struct{ kind *cluster.Provider }

// Find finds an engine: docker, nerdctl or podman, the first one that is installed. If
// that does not answer, the error is ErrNoEngine.
func Find() (*Provider, error) {
	option, err := cluster.DetectNodeProvider()
	if err != nil {
		return nil, ErrNoEngine
	}
	p := &Provider{cluster.NewProvider(option, cluster.ProviderWithLogger(cmd.NewLogger()))}
	answer := make(chan error, 1)
	go func() {
		_, err := p.kind.List()
		answer <- err
	}()
	select {
	case err := <-answer:
		if err == nil {
			return p, nil
		}
	case <-time.After(answerWithin):
	}
	return nil, ErrNoEngine
}

// Create makes a cluster, writes its kubeconfig to a file (and nowhere else), and
// returns when pods can be created. On an error, and when ctx ends first, nothing is left of it.
func (p *Provider) Create(ctx context.Context, name, kubeconfig, kubectl string) error {
	err := p.create(ctx, name, kubeconfig)
	if err == nil {
		limited, cancel := context.WithTimeoutCause(ctx, readyWithin,
			fmt.Errorf("the kind cluster was not ready after %s", readyWithin))
		defer cancel()
		err = binaries.Await(limited, kubectl, kubeconfig, binaries.NodesReady, binaries.AccountCreated,
			binaries.RootCAPublished)
	}
	if err != nil {
		return errors.Join(err, p.Delete(name, kubeconfig))
	}
	return nil
}

// create runs kind's Create, which knows no context: when ctx ends, the nodes are
// deleted under its feet until it gives up.
func (p *Provider) create(ctx context.Context, name, kubeconfig string) error {
	image := os.Getenv("KIND_NODE_IMAGE")
	if image == "" {
		image = defaults.Image
	}
	_ = os.Remove(kubeconfig + ".lock") // kind leaves it behind if it is killed
	created := make(chan error, 1)
	go func() {
		created <- p.kind.Create(name, cluster.CreateWithNodeImage(image), cluster.CreateWithKubeconfigPath(kubeconfig))
	}()
	select {
	case err := <-created:
		return explain("create the kind cluster", err)
	case <-ctx.Done():
	}
	for deadline := time.Now().Add(giveUpWithin); time.Now().Before(deadline); {
		_ = p.Delete(name, kubeconfig) // again and again, as it may be about to make another node
		select {
		case <-created:
			time.Sleep(deleteEvery) // the engine may still make the node that it was asked for; Delete follows
			return context.Cause(ctx)
		case <-time.After(deleteEvery):
		}
	}
	return context.Cause(ctx) // it still pulls an image, say; Delete follows
}

// Exists is whether there are containers of a cluster, even if they are stopped.
func (p *Provider) Exists(name string) bool {
	nodes, err := p.kind.ListNodes(name)
	return err != nil || len(nodes) > 0 // when in doubt, it is there
}

// Delete removes a cluster if there is one, and strikes it out of a kubeconfig.
func (p *Provider) Delete(name, kubeconfig string) error {
	return explain("remove the kind cluster", p.kind.Delete(name, kubeconfig))
}

// explain adds the last lines of what the engine said, which kind keeps to itself.
func explain(doing string, err error) error {
	if err == nil {
		return nil
	}
	if failed := kindexec.RunErrorForError(err); failed != nil {
		lines := strings.Split(strings.TrimSpace(string(failed.Output)), "\n")
		err = fmt.Errorf("%w\n  %s", err, strings.Join(lines[max(0, len(lines)-5):], "\n  "))
	}
	return fmt.Errorf("%s: %w", doing, err)
}
