// A control plane that an earlier process started detached, found again
// through its pids file.
package local

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"example.com/informer/scripts/cluster/internal/ready"
)

// Health of a control plane that is recorded in a folder.
type Health int

// Absent: none is recorded. Broken: recorded, but a process of it has ended or
// was never started, or the cluster is not ready, as after a reboot. Healthy:
// all of it works.
const (
	Absent Health = iota
	Broken
	Healthy
)

// lookFor is how long a cluster may take to show that it is ready.
const lookFor = 10 * time.Second

// Look finds out how the control plane in dir is.
func Look(ctx context.Context, dir string) (Health, error) {
	list, err := readRecords(dir)
	if err != nil || list == nil {
		return Absent, err
	}
	for _, r := range list {
		if !r.running() {
			return Broken, nil
		}
	}
	ctx, cancel := context.WithTimeout(ctx, lookFor)
	defer cancel()
	if len(list) < len(all) || ready.Wait(ctx, filepath.Join(dir, "kubeconfig")) != nil {
		return Broken, nil
	}
	return Healthy, nil
}

// StopRecorded ends the processes that dir records, and no others: a pid that
// belongs to another process by now is left alone, and progress told so.
func StopRecorded(dir string, progress io.Writer) error {
	list, err := readRecords(dir)
	if err != nil {
		return err
	}
	if err := stopRecorded(dir, list, progress); err != nil {
		return fmt.Errorf("stop the control plane in %s: %w", dir, err)
	}
	return nil
}
