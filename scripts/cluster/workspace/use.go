// Using the workspace's cluster together with others.

package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"example.com/informer/scripts/cluster/internal/state"
)

// Use is a cluster in use: until Done, nobody but Down removes it.
type Use struct {
	Cluster
	// Lock, unless nil, is what the others see of it. A program that is to have
	// the cluster even if this process is killed inherits it.
	Lock *os.File
	dir  state.Dir
}

// Begin returns the cluster that is there, or one that is made for its users
// alone: the last one to be Done removes it. (Up makes it stay.)
func Begin(ctx context.Context, root string, progress io.Writer) (*Use, error) {
	dir := state.Of(root)
	yours := os.Getenv("KUBECONFIG")
	if yours != "" && !sameFile(yours, dir.Kubeconfig()) {
		c, err := useYours(ctx, yours) // not ours to make, to remove or to lock
		return &Use{Cluster: c}, err
	}
	release, err := dir.Lock(ctx, progress)
	if err != nil {
		return nil, err
	}
	defer release()
	use := &Use{dir: dir}
	if yours != "" {
		use.Cluster, err = useYours(ctx, yours)
	} else {
		use.Cluster, err = findOrMake(ctx, dir, Auto, progress)
	}
	if err != nil {
		return nil, err
	}
	if use.Made {
		err = dir.SetTemporary()
	}
	if err == nil {
		use.Lock, err = dir.Join()
	}
	if err != nil && use.Made {
		_, downErr := remove(context.WithoutCancel(ctx), dir, use.Provider, progress)
		err = errors.Join(err, downErr)
	}
	if err != nil {
		return nil, err
	}
	return use, nil
}

// Done ends the use of the cluster, and removes it if it was made for its users
// alone and this is the last one.
func (u *Use) Done(ctx context.Context, progress io.Writer) error {
	if u.Lock == nil {
		return nil
	}
	release, err := u.dir.Lock(ctx, progress)
	if err != nil {
		return err
	}
	defer release()
	last, err := u.dir.Leave(u.Lock)
	if err != nil || !last {
		return err
	}
	provider, err := u.dir.Provider()
	if err != nil {
		return err
	}
	fmt.Fprintf(progress, "removing the %s cluster\n", provider)
	_, err = remove(ctx, u.dir, provider, progress)
	return err
}

func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}
