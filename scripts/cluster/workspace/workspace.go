// Package workspace keeps the workspace's one cluster: it finds the one that is
// there, makes one where there is none, and removes what it made.
package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"example.com/informer/scripts/cluster/internal/ready"
	"example.com/informer/scripts/cluster/internal/state"
	"example.com/informer/scripts/cluster/kind"
	"example.com/informer/scripts/cluster/local"
)

// The providers of a cluster.
const (
	Kind  = "kind"
	Local = "local"
	Auto  = "auto"  // the cluster that is there, else kind where an engine answers, else local
	Yours = "yours" // the one that $KUBECONFIG names; never made nor removed here
)

// Cluster is one that answers.
type Cluster struct {
	Provider   string
	Kubeconfig string
	Made       bool // by this call
}

// Up returns a cluster of the given provider, made if need be. It stays until
// Down removes it, even if it was made for its users alone.
func Up(ctx context.Context, root, provider string, progress io.Writer) (Cluster, error) {
	if yours := os.Getenv("KUBECONFIG"); yours != "" {
		if provider == Auto {
			return useYours(ctx, yours)
		}
		fmt.Fprintln(progress, "note: KUBECONFIG is set, and the chapters look there first")
	}
	dir := state.Of(root)
	release, err := dir.Lock(ctx, progress)
	if err != nil {
		return Cluster{}, err
	}
	defer release()
	c, err := findOrMake(ctx, dir, provider, progress)
	if err != nil {
		return Cluster{}, err
	}
	return c, dir.Keep()
}

// findOrMake is Up for a caller who holds the lock of dir.
func findOrMake(ctx context.Context, dir state.Dir, provider string, progress io.Writer) (Cluster, error) {
	there, err := find(ctx, dir, progress)
	if err != nil {
		return Cluster{}, err
	}
	if provider == Auto && there.Kubeconfig != "" {
		there.Provider = cmp.Or(there.Provider, Yours) // a kubeconfig that someone put there
		return there, nil
	}
	if provider == Auto {
		provider = Local
		if there.Provider == Kind || kind.EngineAnswers(ctx) == nil {
			provider = Kind
		}
	}
	if there.Provider != "" && there.Provider != provider {
		return Cluster{}, fmt.Errorf("this workspace has a %[1]s cluster: remove it first, with scripts/%[1]s-down.sh",
			there.Provider)
	}
	if provider == Local && there.Provider == Local {
		return there, nil
	}
	c, err := create(ctx, dir, provider, progress)
	if err != nil && there.Provider == "" && !errors.Is(err, local.ErrNotStopped) {
		err = errors.Join(err, dir.Clear()) // nothing of it is left but the logs
	}
	return c, err
}

func useYours(ctx context.Context, kubeconfig string) (Cluster, error) {
	if err := ready.Answers(ctx, kubeconfig); err != nil {
		return Cluster{},
			fmt.Errorf("the cluster of KUBECONFIG=%s does not answer: %w\nunset KUBECONFIG to have a cluster made",
				kubeconfig, err)
	}
	return Cluster{Provider: Yours, Kubeconfig: kubeconfig}, nil
}

// find returns the cluster in dir: without a provider if there is none, without
// a kubeconfig if it does not answer. A local one that is broken, as after a
// reboot, is cleaned away with its data: it is a toy, and made anew in seconds.
// Not so while somebody uses it: what is left of it may be enough for them.
func find(ctx context.Context, dir state.Dir, progress io.Writer) (Cluster, error) {
	provider, err := dir.Provider()
	if err != nil {
		return Cluster{}, err
	}
	if provider == Local {
		broken := local.Look(ctx, string(dir), progress)
		if !errors.Is(broken, local.ErrBroken) {
			return Cluster{Provider: Local, Kubeconfig: dir.Kubeconfig()}, broken
		}
		return Cluster{}, cleanUp(dir, broken, progress)
	}
	there := Cluster{Provider: provider}
	if ready.Answers(ctx, dir.Kubeconfig()) == nil {
		there.Kubeconfig = dir.Kubeconfig()
	}
	return there, nil
}

func cleanUp(dir state.Dir, broken error, progress io.Writer) error {
	used, err := dir.InUse()
	if err != nil {
		return err
	}
	if used {
		return fmt.Errorf("%w\na program that scripts/cluster exec started still uses it: "+
			"let it end first, or remove the cluster all the same with scripts/local-down.sh", broken)
	}
	fmt.Fprintf(progress, "%v; cleaning up after it\n", broken)
	if err := local.StopRecorded(string(dir), progress); err != nil {
		return err
	}
	return dir.Clear()
}

func create(ctx context.Context, dir state.Dir, provider string, progress io.Writer) (Cluster, error) {
	if err := dir.SetProvider(provider); err != nil {
		return Cluster{}, err
	}
	c := Cluster{Provider: provider, Kubeconfig: dir.Kubeconfig()}
	if provider == Kind {
		var err error
		c.Made, err = kind.Up(ctx, c.Kubeconfig, progress)
		return c, err
	}
	_, err := local.Start(ctx, local.Options{Dir: string(dir), Detached: true, Progress: progress})
	c.Made = err == nil
	return c, err
}
