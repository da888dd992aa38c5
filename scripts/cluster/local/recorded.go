// A control plane that an earlier process started detached, found again
// through its pids file.

package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"

	"example.com/informer/scripts/cluster/internal/ready"
)

// ErrBroken says that a control plane that was started does not work, as after
// a reboot.
var ErrBroken = errors.New("the local cluster no longer works")

// patience with a cluster whose processes all run.
type patience struct {
	refused time.Duration // while nobody listens: it does not get ready
	slow    time.Duration // while it takes connections: the machine may be busy
}

// Look returns nil if all of the control plane in dir works, and ErrBroken, with
// the reason, if a process of it has ended or was never started, or if it does
// not get ready. One that may only be slow is waited for, and progress says so.
func Look(ctx context.Context, dir string, progress io.Writer) error {
	return look(ctx, dir, patience{refused: 10 * time.Second, slow: 2 * time.Minute}, progress)
}

func look(ctx context.Context, dir string, p patience, progress io.Writer) error {
	list, err := readRecords(dir)
	if err != nil {
		return err
	}
	if len(list) < len(all) {
		return fmt.Errorf("%w: %d of its %d processes were started", ErrBroken, len(list), len(all))
	}
	ended := func() error {
		for _, r := range list {
			if !r.running() {
				return fmt.Errorf("%w: %s has ended", ErrBroken, r)
			}
		}
		return nil
	}
	for deadline := time.Now().Add(p.slow); ; {
		limited, cancel := context.WithTimeoutCause(ctx, p.refused, fmt.Errorf("not ready after %s", p.refused))
		err := ready.Wait(limited, filepath.Join(dir, "kubeconfig"), ready.Pods, ended)
		cancel()
		switch {
		case err == nil || errors.Is(err, ErrBroken):
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case utilnet.IsConnectionRefused(err) || time.Now().After(deadline):
			return fmt.Errorf("%w: %w", ErrBroken, err)
		}
		fmt.Fprintf(progress, "the local cluster may only be slow: %v; waiting, for %s at most\n",
			err, time.Until(deadline).Round(time.Second))
	}
}

// StopRecorded ends the processes that dir records, and no others: a pid that
// belongs to another process by now is left alone, and progress says so. Where
// that cannot be known, it is left alone too, and the error says so.
func StopRecorded(dir string, progress io.Writer) error {
	list, err := readRecords(dir)
	if err != nil {
		return err
	}
	var ours []target
	var unknown error
	for _, r := range list {
		switch err := r.check(); {
		case err == nil:
			ours = append(ours, r)
		case errors.Is(err, errReused):
			fmt.Fprintf(progress, "pid %d was %s and is another process now: left alone\n", r.PID, r.Component)
		case r.running():
			unknown = errors.Join(unknown, fmt.Errorf("%s may be another process by now: %w\n"+
				"look at it with ps -o pid,lstart,args -p %d; end it if it is %s; then delete %s",
				r, err, r.PID, r.Component, pidsFile(dir)))
		}
	}
	if err := errors.Join(stop(ours), unknown); err != nil {
		return notStopped(dir, err)
	}
	return removeRecords(dir)
}
