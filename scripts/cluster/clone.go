// The clusters of this clone of the workspace: which one to use, and which are its own.

package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
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
	byYou   = "you" // never made nor removed here
)

// How long a cluster may take to answer; a test is in a hurry.
var (
	answerWithin = 10 * time.Second // until somebody looks whether it runs
	busyWithin   = 2 * time.Minute  // if it runs: the machine may be busy
)

const endWithin = 10 * time.Second // how long a program may take to end after Ctrl-C

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
	switch current := regexp.MustCompile(`(?m)^current-context: (\S+)`).FindSubmatch(config); {
	case current != nil && string(current[1]) == "kind-"+c.name():
		return byKind
	case current != nil && string(current[1]) == "kwok-"+c.name():
		return byLocal
	}
	return byYou
}

// A cluster is one that answers.
type cluster struct {
	maker, kubeconfig string
	remove            func() error // what was made for this use alone
}

func keep() error { return nil }

// inTheWay says what to do about a cluster where another one is wanted. There is no script that
// removes the user's own.
func (c *cluster) inTheWay() error {
	remedy := fmt.Sprintf("remove it first (scripts/%s-down.sh)", c.maker)
	if c.maker == byYou {
		remedy = "unset KUBECONFIG, or move .cluster/kubeconfig out of the way, to have another one made"
	}
	return fmt.Errorf("there is a cluster already, made by %s, with the kubeconfig %s\n%s",
		c.maker, c.kubeconfig, remedy)
}

// find returns the cluster that is there: that of $KUBECONFIG, else that of the clone.
// It returns nil if there is none, or only what is left of one of our own that has ended.
func (c *clone) find(ctx context.Context) (*cluster, error) {
	if err := c.linkKubectl(ctx); err != nil {
		return nil, err
	}
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
	maker, err := c.maker(), c.await(ctx, answerWithin)
	there := &cluster{maker, c.kubeconfig(), keep}
	switch {
	case err == nil:
		return there, nil
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
		return there, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	}
	return nil, fmt.Errorf("the %[1]s cluster of this clone runs, but does not answer: %[2]w\n"+
		"try again when the machine is less busy, or remove it with all that is in it: scripts/%[1]s-down.sh",
		maker, err)
}

// await waits until the cluster of .cluster/kubeconfig answers.
func (c *clone) await(ctx context.Context, within time.Duration) error {
	limited, cancel := context.WithTimeoutCause(ctx, within, fmt.Errorf("no answer within %s", within))
	defer cancel()
	return binaries.Await(limited, c.kubectl, c.kubeconfig())
}

// runs is whether our own cluster has processes, or containers. As long as it has, it is not removed
// because it does not answer.
func (c *clone) runs(maker string) bool {
	if maker == byLocal {
		return len(local.Processes(c.path("local"))) > 0
	}
	engine, noEngine := kind.Find()
	return noEngine == nil && engine.Exists(c.name())
}

// linkKubectl puts a kubectl into .cluster/bin, where the chapters look for it.
func (c *clone) linkKubectl(ctx context.Context) (err error) {
	if c.kubectl, err = binaries.Kubectl(ctx, c.options); err != nil {
		return err
	}
	link, made := c.path("bin/kubectl"), c.path("bin/kubectl-"+rand.Text())
	return errors.Join(os.MkdirAll(filepath.Dir(link), 0o755), os.Symlink(c.kubectl, made), os.Rename(made, link))
}

// prepare gets the programs of a local cluster if exec will make one.
func (c *clone) prepare(ctx context.Context) error {
	there, err := c.find(ctx)
	if there != nil || err != nil {
		return err
	}
	if _, noEngine := kind.Find(); noEngine != nil {
		_, err = binaries.Get(ctx, c.options, binaries.ControlPlane...)
	}
	return err
}

// up finds the cluster that is there, or makes one that lasts. Maker is "" if it does not
// matter who makes it.
func (c *clone) up(ctx context.Context, maker string) error {
	there, err := c.find(ctx)
	if err == nil && there == nil {
		if err = c.down(ctx); err == nil { // what is left of one that does not answer
			there, err = c.create(ctx, maker, c.name(), c.path("local"), true)
		}
	}
	if err != nil {
		return err
	}
	if maker != "" && maker != there.maker {
		return there.inTheWay()
	}
	fmt.Printf("cluster is up (%s); for kubectl: export KUBECONFIG=%s\n", there.maker, quote.Shell(there.kubeconfig))
	return nil
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
	engine, noEngine := kind.Find()
	switch {
	case maker == byKind && noEngine != nil:
		return nil, noEngine
	case maker == byKind, maker == "" && noEngine == nil:
		if lasts {
			kubeconfig = c.kubeconfig()
		}
		if err := engine.Create(ctx, name, kubeconfig, c.kubectl); err != nil {
			return nil, errors.Join(err, os.RemoveAll(dir))
		}
		return &cluster{byKind, kubeconfig, func() error {
			return errors.Join(engine.Delete(name, kubeconfig), os.RemoveAll(dir))
		}}, nil
	}
	made, err := local.Start(ctx, local.Options{Dir: dir, Name: name, Lasting: lasts, Options: c.options})
	if err == nil && lasts {
		err = os.Symlink("local/kubeconfig", c.kubeconfig())
		kubeconfig = c.kubeconfig()
	}
	if err != nil {
		return nil, err
	}
	return &cluster{byLocal, kubeconfig, made.Stop}, nil
}

// down removes the lasting cluster of this clone, if there is one.
func (c *clone) down(ctx context.Context) error {
	maker := c.maker()
	engine, noEngine := kind.Find()
	if noEngine == nil {
		if err := engine.Delete(c.name(), c.kubeconfig()); err != nil {
			return err
		}
	} else if maker == byKind {
		return fmt.Errorf("the kind cluster of this clone cannot be removed: %w", noEngine)
	}
	if maker != byYou {
		if err := os.Remove(c.kubeconfig()); err != nil {
			return err
		}
	}
	return local.Remove(c.path("local"))
}

// exec runs a program and returns its exit code. When ctx ends, the program is
// interrupted, with all its children, and killed if it does not heed that.
func (c *clone) exec(ctx context.Context, args []string) (code int, err error) {
	cluster, err := c.use(ctx)
	if err != nil {
		return exitFailure, err
	}
	defer func() { err = errors.Join(err, cluster.remove()) }()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+cluster.kubeconfig)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	signal := func(s syscall.Signal) error { return syscall.Kill(-cmd.Process.Pid, s) }
	cmd.Cancel = func() error { return signal(syscall.SIGINT) }
	cmd.WaitDelay = endWithin
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		_ = signal(syscall.SIGKILL) // to children that stayed
		return exitInterrupted, context.Cause(ctx)
	case errors.As(err, &exit) && exit.Exited():
		return exit.ExitCode(), nil
	}
	if err != nil {
		return exitFailure, err
	}
	return exitOK, nil
}
