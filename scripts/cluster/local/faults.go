// Taking a running control plane apart, for tests of what clients do then.

package local

import (
	"context"
	"fmt"
	"os"
	"syscall"

	"example.com/informer/scripts/cluster/internal/ready"
)

// PID of a component, or 0 while it does not run.
func (cp *ControlPlane) PID(c Component) int {
	cp.mu.Lock()
	defer cp.mu.Unlock()
	if p := cp.processes[c]; p != nil && p.running() {
		return p.PID
	}
	return 0
}

// Signal sends a signal to a component, such as SIGSTOP to freeze it and
// SIGCONT to let it go on.
func (cp *ControlPlane) Signal(c Component, s syscall.Signal) error {
	cp.mu.Lock()
	defer cp.mu.Unlock()
	p := cp.processes[c]
	if p == nil {
		return fmt.Errorf("signal %s: %w", c, os.ErrProcessDone)
	}
	return p.signal(s)
}

// Kill ends a component with SIGKILL and returns when it is gone.
func (cp *ControlPlane) Kill(c Component) error {
	cp.mu.Lock()
	defer cp.mu.Unlock()
	p := cp.processes[c]
	if p == nil {
		return fmt.Errorf("kill %s: %w", c, os.ErrProcessDone)
	}
	if err := kill([]target{p}); err != nil {
		return fmt.Errorf("kill %s: %w", c, err)
	}
	delete(cp.processes, c)
	return writeRecords(cp.opts.Dir, cp.records())
}

// Restart starts a component again that was killed or has ended, on the same
// port and the same data, and also one that Options.APIOnly or
// Options.NoControllers left out. For etcd and the API server it returns when
// the API answers from the data, unless the other one of the two does not run.
func (cp *ControlPlane) Restart(ctx context.Context, c Component) error {
	if c == APIServer && cp.PID(c) == 0 {
		if err := checkFree(cp.port); err != nil {
			return err
		}
	}
	if err := cp.launch(c); err != nil {
		return err
	}
	if (c == Etcd || c == APIServer) && cp.PID(Etcd) != 0 && cp.PID(APIServer) != 0 {
		return cp.await(ctx, ready.API, Etcd, APIServer)
	}
	return nil
}
