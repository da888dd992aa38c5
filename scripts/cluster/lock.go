// One command at a time makes or removes the lasting cluster of a clone.

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

const tryLockEvery = 100 * time.Millisecond

// lock waits until no other command has the lock of this clone, and takes it. It says who has it. The
// lock ends with its process, in whatever way that ends; the file stays.
func (c *clone) lock(ctx context.Context, command string) (unlock func(), err error) {
	path := c.path("lock")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("the lock of this clone: %w", err)
	}
	said := false
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			err = writeOwner(file, command)
			return func() { _ = file.Close() }, err
		}
		if err != syscall.EWOULDBLOCK && err != syscall.EINTR {
			file.Close()
			return nil, fmt.Errorf("locking %s: %w", path, err)
		}
		if owner, _ := os.ReadFile(path); !said && len(owner) > 0 { // it may not have written it yet
			fmt.Fprintf(c.options.Progress, "waiting for another command in this clone: %s\n", owner)
			said = true
		}
		select {
		case <-time.After(tryLockEvery):
		case <-ctx.Done():
			file.Close()
			return nil, context.Cause(ctx)
		}
	}
}

// writeOwner writes down who has the lock.
func writeOwner(file *os.File, command string) error {
	if err := file.Truncate(0); err != nil {
		return err
	}
	_, err := file.WriteAt(fmt.Appendf(nil, "process %d (%s)", os.Getpid(), command), 0)
	return err
}
