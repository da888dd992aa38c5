// The clusters of this clone of the workspace: which cluster to use, and which clusters the clone
// has made.

package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"example.com/informer/scripts/cluster/binaries"
	"example.com/informer/scripts/cluster/kind"
	"example.com/informer/scripts/cluster/local"
	"example.com/informer/scripts/harness/quote"
	"example.com/informer/scripts/harness/workspace"
)

// Who made a cluster.
const (
	byKind  = "kind"
	byLocal = "local"
	byYou   = "you" // a cluster of the user's, which is never removed here
)

// How long a cluster may take to answer. A test sets shorter times.
var (
	answerWithin = 10 * time.Second // after this time, find looks whether the cluster runs
	busyWithin   = 2 * time.Minute  // more time for a cluster that runs: the machine may be busy
)

// A clone is a working tree. It has at most one lasting cluster, which is named after the path of
// the clone. A cluster with another name is never removed.
type clone struct {
	root    string
	kubectl string // a program that fits the clusters that are made here; linkKubectl sets it
	options binaries.Options
}

// findClone finds the clone that the working directory is in.
func findClone(options binaries.Options) (*clone, error) {
	root, err := workspace.Clone(".")
	if err != nil {
		return nil, err
	}
	root, err = filepath.EvalSymlinks(root) // a clone has one path only
	if err != nil {
		return nil, err
	}
	return &clone{root: root, options: options}, nil
}

// name returns the name of the lasting cluster.
func (c *clone) name() string {
	return fmt.Sprintf("informer-%x", sha256.Sum256([]byte(c.root)))[:len("informer-")+8]
}

func (c *clone) path(name string) string { return filepath.Join(c.root, ".cluster", name) }
func (c *clone) kubeconfig() string      { return c.path("kubeconfig") }

var currentContext = regexp.MustCompile(`(?m)^current-context: (\S+)`)

// maker returns who made the cluster of .cluster/kubeconfig. The clone has made it if its context
// has the name of the clone's cluster.
func (c *clone) maker() string {
	config, _ := os.ReadFile(c.kubeconfig()) // a file that cannot be read names no context
	match := currentContext.FindSubmatch(config)
	if match == nil {
		return byYou
	}
	switch string(match[1]) {
	case "kind-" + c.name():
		return byKind
	case "kwok-" + c.name():
		return byLocal
	default:
		return byYou
	}
}

// A cluster is a cluster that answers.
type cluster struct {
	maker      string
	kubeconfig string
	remove     func() error // removes a cluster that was made for one use; does nothing for any other
}

func removeNothing() error { return nil }

// conflictError says what to do about a cluster where another one is wanted. No script removes a
// cluster of the user's.
func (c *cluster) conflictError() error {
	remedy := fmt.Sprintf("remove it first (scripts/%s-down.sh)", c.maker)
	if c.maker == byYou {
		remedy = "unset KUBECONFIG, or move .cluster/kubeconfig out of the way, to have another one made"
	}
	return fmt.Errorf("there is a cluster already, made by %s, with the kubeconfig %s\n%s",
		c.maker, c.kubeconfig, remedy)
}

// find returns the cluster of $KUBECONFIG if that is set, else the cluster of the clone. It returns
// nil if there is none, or if the clone's own cluster has ended. The caller holds the lock of the
// clone.
func (c *clone) find(ctx context.Context) (*cluster, error) {
	if err := c.linkKubectl(ctx); err != nil {
		return nil, err
	}
	if kubeconfig := os.Getenv("KUBECONFIG"); kubeconfig != "" {
		if err := binaries.Answers(ctx, c.kubectl, kubeconfig); err != nil {
			return nil, fmt.Errorf("the cluster of KUBECONFIG=%s does not answer: %w\n"+
				"unset KUBECONFIG to have a cluster made", kubeconfig, err)
		}
		return &cluster{maker: byYou, kubeconfig: kubeconfig, remove: removeNothing}, nil
	}
	if _, err := os.Stat(c.kubeconfig()); err != nil {
		return nil, nil
	}
	return c.findOwn(ctx)
}

// findLocked is find for a command that does not hold the lock of the clone.
func (c *clone) findLocked(ctx context.Context, command string) (found *cluster, err error) {
	err = c.locked(ctx, command, func() (err error) {
		found, err = c.find(ctx)
		return err
	})
	return found, err
}

// findOwn returns the cluster of .cluster/kubeconfig, or nil if the clone has made it and it has
// ended.
func (c *clone) findOwn(ctx context.Context) (*cluster, error) {
	maker := c.maker()
	found := &cluster{maker: maker, kubeconfig: c.kubeconfig(), remove: removeNothing}
	if maker == byLocal {
		if err := c.resume(ctx); err != nil {
			return nil, err
		}
	}
	err := c.await(ctx, answerWithin)
	switch {
	case err == nil:
		return found, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case maker == byYou:
		return nil, fmt.Errorf("the cluster of .cluster/kubeconfig was not made here, and does not answer: %w\n"+
			"start it, or remove that file to have a cluster made", err)
	case !c.runs(maker):
		fmt.Fprintf(c.options.Progress, "the %s cluster does not answer: %v\n", maker, err)
		return nil, nil
	}
	fmt.Fprintf(c.options.Progress, "the %s cluster runs, but does not answer: waiting for it\n", maker)
	err = c.await(ctx, busyWithin)
	switch {
	case err == nil:
		return found, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	}
	return nil, fmt.Errorf("the %[1]s cluster of this clone runs, but does not answer: %[2]w\n"+
		"try again when the machine is less busy, or remove it with all that is in it: scripts/%[1]s-down.sh",
		maker, err)
}

// resume starts the components of the clone's own local cluster again that have ended.
func (c *clone) resume(ctx context.Context) error {
	limited, cancel := context.WithTimeoutCause(ctx, busyWithin, fmt.Errorf("no answer within %s", busyWithin))
	defer cancel()
	err := local.Resume(limited, local.Options{Dir: c.path("local"), Name: c.name(), Options: c.options})
	if err == nil || ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fmt.Errorf("a part of the local cluster of this clone has ended, and does not start again: %w\n"+
		"remove the cluster with all that is in it: scripts/local-down.sh", err)
}

// await waits until the cluster of .cluster/kubeconfig answers.
func (c *clone) await(ctx context.Context, within time.Duration) error {
	limited, cancel := context.WithTimeoutCause(ctx, within, fmt.Errorf("no answer within %s", within))
	defer cancel()
	return binaries.Await(limited, c.kubectl, c.kubeconfig())
}

// runs reports whether the clone's own cluster has processes or containers. While it has some, it
// is not removed only because it does not answer.
func (c *clone) runs(maker string) bool {
	if maker == byLocal {
		return len(local.Processes(c.path("local"))) > 0
	}
	engine, err := kind.Find()
	return err == nil && engine.Exists(c.name())
}

// linkKubectl links a kubectl into .cluster/bin, where the chapters look for it.
func (c *clone) linkKubectl(ctx context.Context) error {
	kubectl, err := binaries.Kubectl(ctx, c.options)
	if err != nil {
		return err
	}
	c.kubectl = kubectl
	link, newLink := c.path("bin/kubectl"), c.path("bin/kubectl-"+rand.Text())
	if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
		return err
	}
	if err := os.Symlink(kubectl, newLink); err != nil {
		return err
	}
	return os.Rename(newLink, link) // replaces an old link; Symlink would not
}

// prepare gets the programs of a local cluster if exec will make one.
func (c *clone) prepare(ctx context.Context) error {
	found, err := c.findLocked(ctx, "prepare")
	if found != nil || err != nil {
		return err
	}
	if _, err := kind.Find(); err == nil {
		return nil // exec will use kind
	}
	_, err = binaries.Get(ctx, c.options, binaries.ControlPlane...)
	return err
}

// up finds the cluster that exists, or makes one that lasts. If maker is "", the cluster may be of
// any maker.
func (c *clone) up(ctx context.Context, maker string) error {
	found, err := c.find(ctx)
	if err != nil {
		return err
	}
	if found == nil {
		found, err = c.replace(ctx, maker)
		if err != nil {
			return err
		}
	}
	if maker != "" && maker != found.maker {
		return found.conflictError()
	}
	fmt.Printf("cluster is up (%s); for kubectl: export KUBECONFIG=%s\n", found.maker, quote.Shell(found.kubeconfig))
	return nil
}

// replace makes the lasting cluster, after it has removed what is left of one that has ended.
func (c *clone) replace(ctx context.Context, maker string) (*cluster, error) {
	if err := c.down(ctx); err != nil {
		return nil, err
	}
	// find has found no kubeconfig here, so what may still be there is a link that leads nowhere.
	if err := os.Remove(c.kubeconfig()); err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	return c.create(ctx, plan{maker: maker, name: c.name(), dir: c.path("local"), lasting: true})
}

// use returns the cluster that exists, or makes one for this use alone.
func (c *clone) use(ctx context.Context) (*cluster, error) {
	found, err := c.findLocked(ctx, "exec")
	if found != nil || err != nil {
		return found, err
	}
	suffix := strings.ToLower(rand.Text()[:8])
	return c.create(ctx, plan{name: c.name() + "-" + suffix, dir: c.path("exec-" + suffix)})
}

// A plan says which cluster to make.
type plan struct {
	maker   string // byKind or byLocal; "" means kind where an engine answers, else local
	name    string
	dir     string // takes the files of the cluster
	lasting bool   // the kubeconfig goes to .cluster/kubeconfig, and the cluster outlives this process
}

func (c *clone) create(ctx context.Context, p plan) (*cluster, error) {
	if p.maker == byLocal {
		return c.createLocal(ctx, p)
	}
	engine, err := kind.Find()
	switch {
	case err == nil:
		return c.createKind(ctx, engine, p)
	case p.maker == byKind:
		return nil, err
	default:
		return c.createLocal(ctx, p)
	}
}

func (c *clone) createKind(ctx context.Context, engine *kind.Provider, p plan) (*cluster, error) {
	kubeconfig := filepath.Join(p.dir, "kubeconfig")
	if p.lasting {
		kubeconfig = c.kubeconfig()
	}
	if err := engine.Create(ctx, p.name, kubeconfig, c.kubectl); err != nil {
		return nil, errors.Join(err, os.RemoveAll(p.dir))
	}
	remove := func() error { return errors.Join(engine.Delete(p.name, kubeconfig), os.RemoveAll(p.dir)) }
	return &cluster{maker: byKind, kubeconfig: kubeconfig, remove: remove}, nil
}

func (c *clone) createLocal(ctx context.Context, p plan) (*cluster, error) {
	started, err := local.Start(ctx, local.Options{Dir: p.dir, Name: p.name, Lasting: p.lasting, Options: c.options})
	if err != nil {
		return nil, err
	}
	kubeconfig := started.Kubeconfig()
	if p.lasting {
		kubeconfig = c.kubeconfig()
		if err := os.Symlink("local/kubeconfig", kubeconfig); err != nil {
			return nil, errors.Join(err, started.Stop())
		}
	}
	return &cluster{maker: byLocal, kubeconfig: kubeconfig, remove: started.Stop}, nil
}

// down removes the lasting cluster of this clone, if there is one.
func (c *clone) down(ctx context.Context) error {
	maker := c.maker()
	engine, err := kind.Find()
	switch {
	case err == nil:
		if err := engine.Delete(c.name(), c.kubeconfig()); err != nil {
			return err
		}
	case maker == byKind:
		return fmt.Errorf("the kind cluster of this clone cannot be removed: %w", err)
	}
	if maker != byYou {
		if err := os.Remove(c.kubeconfig()); err != nil {
			return err
		}
	}
	return local.Remove(c.path("local"))
}
