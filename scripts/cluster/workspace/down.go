// Removing the workspace's cluster, and reporting its state.

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

// Down removes the cluster that Up made, and returns its provider, or "" if
// there is none. A provider other than "" restricts it to that one; kind's is
// then found even where the workspace has forgotten it. The logs stay. A program
// that uses the cluster loses it, and progress says so.
func Down(ctx context.Context, root, provider string, progress io.Writer) (removed string, err error) {
	dir := state.Of(root)
	if _, err := os.Stat(string(dir)); os.IsNotExist(err) && provider != Kind {
		return "", nil
	}
	release, err := dir.Lock(ctx, progress)
	if err != nil {
		return "", err
	}
	defer release()
	used, _ := dir.InUse() // what was asked for is done all the same
	removed, err = remove(ctx, dir, provider, progress)
	if used && removed != "" {
		fmt.Fprintln(progress,
			"note: a program that scripts/cluster exec started still uses the cluster that is gone now")
	}
	return removed, err
}

// remove is Down for a caller who holds the lock of dir.
func remove(ctx context.Context, dir state.Dir, provider string, progress io.Writer) (removed string, err error) {
	recorded, err := dir.Provider()
	if err != nil {
		return "", err
	}
	switch {
	case recorded == Local && provider != Kind:
		err = local.StopRecorded(string(dir), progress)
		removed = Local
	case recorded == Kind && provider != Local, recorded == "" && provider == Kind:
		var was bool
		if was, err = kind.Down(ctx, progress); was {
			removed = Kind
		}
		if recorded == "" && errors.Is(err, kind.ErrNoEngine) {
			return "", nil
		}
	default:
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return removed, dir.Clear()
}

// Status describes the cluster that a chapter would use, in one line. The
// error, in one or two, says why there is none.
func Status(ctx context.Context, root string) (string, error) {
	if yours := os.Getenv("KUBECONFIG"); yours != "" {
		c, err := useYours(ctx, yours)
		return fmt.Sprintf("the cluster of KUBECONFIG=%s answers", c.Kubeconfig), err
	}
	dir := state.Of(root)
	provider, err := dir.Provider()
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(dir.Kubeconfig()); err != nil {
		return "", errors.New("no cluster: scripts/kind-up.sh or scripts/local-up.sh makes one")
	}
	if err := ready.Answers(ctx, dir.Kubeconfig()); err != nil {
		return "", fmt.Errorf("the %[1]s cluster does not answer: %[2]w\nscripts/%[1]s-up.sh brings it back",
			cmp.Or(provider, Local), err)
	}
	return fmt.Sprintf("the %s cluster answers: kubeconfig %s", cmp.Or(provider, Yours), dir.Kubeconfig()), nil
}
