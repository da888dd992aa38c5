// The clusters of this clone of the workspace: which one to use, and which are its own.

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
	"example.com/informer/scripts/harness/workspace"
)

// Who made a cluster.
const (
	byKind  = "kind"
	byLocal = "local"
	byYou   = "you" // never made nor removed here
)

// answerWithin is how long a cluster of our own may take to answer before it counts as
// dead: it may be busy.
const answerWithin = 10 * time.Second

// A clone is one working tree. It has one lasting cluster at most, which is named after
// the path of the clone. Nothing with another name is ever removed.
type clone struct {
	root    string
	kubectl string // fits the clusters that are made here
	options binaries.Options
}

// findClone finds the clone that the working directory is in.
func findClone(options binaries.Options) (*clone, error) {
	root, err := workspace.Root(".")
	if err == nil {
		root, err = filepath.EvalSymlinks(root) // one clone has one path
	}
	return &clone{root: root, options: options}, err
}

// name of the lasting cluster.
func (c *clone) name() string {
	return fmt.Sprintf("informer-%x", sha256.Sum256([]byte(c.root)))[:len("informer-")+8]
}

func (c *clone) path(name string) string { return filepath.Join(c.root, ".cluster", name) }
func (c *clone) kubeconfig() string      { return c.path("kubeconfig") }

// maker says who made the cluster of .cluster/kubeconfig: it is ours if it has the name.
func (c *clone) maker() string {
	config, _ := os.ReadFile(c.kubeconfig())
	switch current := regexp.MustCompile(`(?m)^current-context: "?([^"\s]+)`).FindSubmatch(config); {
	case current != nil && string(current[1]) == "kind-"+c.name():
		return byKind
	case current != nil && string(current[1]) == "kwok-"+c.name():
		return byLocal
	}
	return byYou
}

// linkKubectl puts a kubectl into .cluster/bin, where the chapters look for it.
func (c *clone) linkKubectl(ctx context.Context) (err error) {
	if c.kubectl, err = binaries.Kubectl(ctx, c.options); err != nil {
		return err
	}
	link := c.path("bin/kubectl")
	if there, _ := os.Readlink(link); there == c.kubectl {
		return nil
	}
	_ = os.Remove(link)
	err = errors.Join(os.MkdirAll(filepath.Dir(link), 0o755), os.Symlink(c.kubectl, link))
	if errors.Is(err, os.ErrExist) { // another process has been faster
		return nil
	}
	return err
}

// A cluster is one that answers.
type cluster struct {
	maker, kubeconfig string
	remove            func() error // what was made for this use alone
}

func keep() error { return nil }

// find returns the cluster that is there: that of $KUBECONFIG, else that of the clone.
// It returns nil if there is none, or only one of our own that does not answer.
func (c *clone) find(ctx context.Context) (*cluster, error) {
	if yours := os.Getenv("KUBECONFIG"); yours != "" {
		if err := binaries.Answers(ctx, c.kubectl, yours); err != nil {
			return nil, fmt.Errorf("the cluster of KUBECONFIG=%s does not answer: %w\n"+
				"unset KUBECONFIG to have a cluster made", yours, err)
		}
		return &cluster{byYou, yours, keep}, nil
	}
	if _, err := os.Stat(c.kubeconfig()); err != nil {
		return nil, nil
	}
	maker, err := c.maker(), error(nil)
	switch {
	case maker == byYou:
		err = binaries.Answers(ctx, c.kubectl, c.kubeconfig())
	case maker == byLocal && len(local.Processes(c.path("local"))) == 0:
		err = errors.New("its processes have ended") // after a reboot, say
	default:
		limited, cancel := context.WithTimeout(ctx, answerWithin)
		defer cancel()
		err = binaries.Await(limited, c.kubectl, c.kubeconfig())
	}
	switch {
	case err == nil:
		return &cluster{maker, c.kubeconfig(), keep}, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case maker == byYou:
		return nil, fmt.Errorf("the cluster of .cluster/kubeconfig was not made here, and does not answer: %w\n"+
			"start it, or remove that file to have a cluster made", err)
	}
	fmt.Fprintf(c.options.Progress, "the %s cluster does not answer: %v\n", maker, err)
	return nil, nil
}

// up returns the cluster that is there, or makes one that lasts. The maker may be "":
// whoever made the one that is there, else kind where an engine answers, else local.
func (c *clone) up(ctx context.Context, maker string) (*cluster, error) {
	there, err := c.find(ctx)
	if err != nil {
		return nil, err
	}
	if there != nil && (maker == "" || maker == there.maker) {
		return there, nil
	}
	if there != nil {
		return nil, fmt.Errorf("there is a cluster already, made by %s, with the kubeconfig %s\n"+
			"remove it first (scripts/%s-down.sh), or unset KUBECONFIG", there.maker, there.kubeconfig, there.maker)
	}
	if _, err := c.down(ctx); err != nil { // what is left of one that does not answer
		return nil, err
	}
	return c.create(ctx, maker, c.name(), c.path("local"), true)
}

// use returns the cluster that is there, or makes one for this use alone.
func (c *clone) use(ctx context.Context) (*cluster, error) {
	if there, err := c.find(ctx); there != nil || err != nil {
		return there, err
	}
	suffix := strings.ToLower(rand.Text()[:8])
	return c.create(ctx, "", c.name()+"-"+suffix, c.path("exec-"+suffix), false)
}

// create makes a cluster.
func (c *clone) create(ctx context.Context, maker, name, dir string, lasts bool) (*cluster, error) {
	kubeconfig := filepath.Join(dir, "kubeconfig")
	if lasts {
		kubeconfig = c.kubeconfig()
	}
	engine, noEngine := kind.Find(ctx)
	switch {
	case maker == byKind && noEngine != nil:
		return nil, noEngine
	case maker == byKind, maker == "" && noEngine == nil:
		err := engine.Create(ctx, name, kubeconfig, c.kubectl)
		return &cluster{byKind, kubeconfig, func() error { return errors.Join(engine.Delete(name, kubeconfig), os.RemoveAll(dir)) }}, err
	}
	made, err := local.Start(ctx, local.Options{Dir: dir, Name: name, Lasting: lasts, Options: c.options})
	if err == nil && lasts {
		err = copyFile(made.Kubeconfig(), kubeconfig)
	}
	if err != nil {
		return nil, err
	}
	return &cluster{byLocal, kubeconfig, made.Stop}, nil
}

func copyFile(from, to string) error {
	content, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, content, 0o600)
	}
	return err
}

// down removes the lasting cluster of this clone, and says who had made it; "" if there
// is none.
func (c *clone) down(ctx context.Context) (maker string, err error) {
	if _, err := os.Stat(c.path("local")); err == nil {
		if err := local.Remove(c.path("local")); err != nil {
			return "", err
		}
		maker = byLocal
	}
	engine, noEngine := kind.Find(ctx)
	if noEngine != nil && c.maker() == byKind {
		return maker, fmt.Errorf("the kind cluster of this clone cannot be removed: %w", noEngine)
	}
	if noEngine == nil {
		there, err := engine.Exists(c.name())
		if err == nil && there {
			maker, err = byKind, engine.Delete(c.name(), c.kubeconfig())
		}
		if err != nil {
			return maker, err
		}
	}
	if c.maker() == byLocal {
		err = os.Remove(c.kubeconfig())
	}
	return maker, err
}
