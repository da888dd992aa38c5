// The clusters of this clone of the workspace: which one to use, and which are its own.

package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/client-go/tools/clientcmd"

	"example.com/informer/scripts/cluster/binaries"
	"example.com/informer/scripts/cluster/kind"
	"example.com/informer/scripts/cluster/local"
	"example.com/informer/scripts/cluster/ready"
	"example.com/informer/scripts/harness/workspace"
)

// The providers of a cluster.
const (
	providerKind  = "kind"
	providerLocal = "local"
	providerAuto  = "auto"  // the cluster that is there, else kind where an engine answers, else local
	providerYours = "yours" // never made nor removed here
)

const answerWithin = 10 * time.Second

// A clone is one working tree. It has one lasting cluster at most, which is named after
// the path of the clone. Nothing with another name is ever removed.
type clone struct {
	root     string
	build    bool // the programs of a local cluster from Go modules
	progress io.Writer
}

// findClone finds the clone that the working directory is in.
func findClone(progress io.Writer) (*clone, error) {
	root, err := workspace.Root(".")
	if err == nil {
		root, err = filepath.EvalSymlinks(root) // one clone has one path
	}
	return &clone{root: root, progress: progress}, err
}

// name of the lasting cluster.
func (c *clone) name() string {
	return fmt.Sprintf("informer-%x", sha256.Sum256([]byte(c.root)))[:len("informer-")+8]
}

func (c *clone) path(name string) string { return filepath.Join(c.root, ".cluster", name) }
func (c *clone) kubeconfig() string      { return c.path("kubeconfig") }

// maker says who made the cluster of .cluster/kubeconfig: a provider, for this very
// clone; or somebody else.
func (c *clone) maker() string {
	config, err := clientcmd.LoadFromFile(c.kubeconfig())
	switch {
	case err == nil && config.CurrentContext == "kind-"+c.name():
		return providerKind
	case err == nil && config.CurrentContext == "kwok-"+c.name():
		return providerLocal
	}
	return providerYours
}

// A used cluster is one that answers.
type used struct {
	provider, kubeconfig string
	remove               func() error // what was made for this use
}

func nothing() error { return nil }

// find returns the cluster that is there: that of $KUBECONFIG, else that of the clone.
// It returns nil if there is none, or only one of our own that does not answer.
func (c *clone) find(ctx context.Context) (*used, error) {
	if yours := os.Getenv("KUBECONFIG"); yours != "" {
		if err := ready.Answers(ctx, yours); err != nil {
			return nil, fmt.Errorf("the cluster of KUBECONFIG=%s does not answer: %w\n"+
				"unset KUBECONFIG to have a cluster made", yours, err)
		}
		return &used{providerYours, yours, nothing}, nil
	}
	if _, err := os.Stat(c.kubeconfig()); err != nil {
		return nil, nil
	}
	maker := c.maker()
	err := c.answers(ctx, maker)
	switch {
	case err == nil:
		return &used{maker, c.kubeconfig(), nothing}, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case maker == providerYours:
		return nil, fmt.Errorf("the cluster of .cluster/kubeconfig was not made here, and does not answer: %w\n"+
			"start it, or remove that file to have a cluster made", err)
	}
	fmt.Fprintf(c.progress, "the %s cluster does not answer: %v\n", maker, err)
	return nil, nil
}

// answers asks the cluster of .cluster/kubeconfig. One of our own, whose loss would be
// final, has some seconds: it may be busy.
func (c *clone) answers(ctx context.Context, maker string) error {
	switch {
	case maker == providerYours:
		return ready.Answers(ctx, c.kubeconfig())
	case maker == providerLocal && len(local.Processes(c.path("local"))) == 0:
		return errors.New("its processes have ended") // after a reboot, say
	}
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	return ready.Wait(ctx, c.kubeconfig(), ready.API(), func() error { return nil })
}

// up returns the cluster that is there, or makes one that lasts.
func (c *clone) up(ctx context.Context, provider string) (*used, error) {
	there, err := c.find(ctx)
	if provider == providerAuto && (there != nil || err != nil) {
		return there, err
	}
	if os.Getenv("KUBECONFIG") != "" {
		fmt.Fprintln(c.progress, "note: KUBECONFIG is set, and the chapters look there first")
		there = nil
	}
	switch maker := c.maker(); {
	case there != nil && maker == provider:
		return there, nil
	case there != nil && maker == providerYours, err != nil:
		return nil, errors.Join(err, fmt.Errorf("%s was not made here: move it away first", c.kubeconfig()))
	case there != nil:
		return nil, fmt.Errorf("this clone has a %[1]s cluster: remove it first, with scripts/%[1]s-down.sh", maker)
	}
	if _, err := c.down(ctx); err != nil { // what is left of one that does not answer
		return nil, err
	}
	return c.create(ctx, provider, c.name(), c.path("local"), true)
}

// create makes a cluster. The caller of a cluster that does not last removes it.
func (c *clone) create(ctx context.Context, provider, name, dir string, lasts bool) (*used, error) {
	engine, err := kind.Find(ctx, c.progress)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case provider == providerKind && err != nil:
		return nil, err
	case provider == providerKind, provider == providerAuto && err == nil:
		kubeconfig := filepath.Join(dir, "kubeconfig")
		if lasts {
			kubeconfig = c.kubeconfig()
		}
		err := engine.Create(ctx, name, kubeconfig)
		return &used{providerKind, kubeconfig, func() error {
			return errors.Join(engine.Delete(name), os.RemoveAll(dir))
		}}, err
	}
	made, err := local.Start(ctx, local.Options{Dir: dir, Name: name, Lasting: lasts, Build: c.build, Progress: c.progress})
	if err != nil {
		return nil, err
	}
	kubeconfig := made.Kubeconfig()
	if lasts {
		content, err := os.ReadFile(kubeconfig)
		if err == nil {
			err = os.WriteFile(c.kubeconfig(), content, 0o600)
		}
		if err != nil {
			return nil, errors.Join(err, made.Stop())
		}
		kubeconfig = c.kubeconfig()
	}
	return &used{providerLocal, kubeconfig, made.Stop}, nil
}

// use returns the cluster that is there, or makes one for this use alone.
func (c *clone) use(ctx context.Context) (*used, error) {
	if there, err := c.find(ctx); there != nil || err != nil {
		return there, err
	}
	suffix := strings.ToLower(rand.Text()[:8])
	return c.create(ctx, providerAuto, c.name()+"-"+suffix, c.path("exec-"+suffix), false)
}

// down removes the lasting cluster of this clone, and says what there was to remove.
func (c *clone) down(ctx context.Context) (removed []string, err error) {
	if _, err := os.Stat(c.path("local")); err == nil {
		if err := local.Remove(c.path("local")); err != nil {
			return nil, err
		}
		removed = append(removed, providerLocal)
	}
	engine, err := kind.Find(ctx, c.progress)
	if err == nil {
		there, err := engine.Exists(c.name())
		if err == nil && there {
			err = engine.Delete(c.name())
			removed = append(removed, providerKind)
		}
		if err != nil {
			return removed, err
		}
	} else if c.maker() == providerKind {
		return removed, fmt.Errorf("the kind cluster of this clone cannot be removed: %w", err)
	}
	if c.maker() != providerYours {
		return removed, os.Remove(c.kubeconfig())
	}
	return removed, nil
}

// linkKubectl puts a kubectl that fits the cluster's version into .cluster/bin, where the
// chapters look for it.
func (c *clone) linkKubectl(ctx context.Context) error {
	kubectl, err := binaries.Kubectl(ctx, binaries.Options{Build: c.build, Progress: c.progress})
	if err != nil {
		return err
	}
	link := c.path("bin/kubectl")
	if there, err := os.Readlink(link); err == nil && there == kubectl {
		return nil
	}
	_ = os.Remove(link)
	err = errors.Join(os.MkdirAll(filepath.Dir(link), 0o755), os.Symlink(kubectl, link))
	if errors.Is(err, os.ErrExist) { // another process has been faster
		return nil
	}
	return err
}
