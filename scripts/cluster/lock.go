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

// lock waits until no other command holds the lock of this clone, and takes it. While it waits, it
// prints who holds the lock. The lock ends with its process, in whatever way the process ends. The
// file stays.
func (c *clone) lock(ctx context.Context, command string) (unlock func(), err error) {
	path := c.path("lock")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("the lock of this clone: %w", err)
	}
	printedOwner := false
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { _ = file.Close() }, writeOwner(file, command)
		}
		if err != syscall.EWOULDBLOCK && err != syscall.EINTR {
			file.Close()
			return nil, fmt.Errorf("locking %s: %w", path, err)
		}
		if !printedOwner {
			printedOwner = c.printOwner(path)
		}
		select {
		case <-time.After(tryLockEvery):
		case <-ctx.Done():
			file.Close()
			return nil, context.Cause(ctx)
		}
	}
}

// printOwner prints who holds the lock. It returns false if the owner has not written its name yet.
func (c *clone) printOwner(path string) bool {
	owner, _ := os.ReadFile(path) // a file that cannot be read names nobody
	if len(owner) == 0 {
		return false
	}
	fmt.Fprintf(c.options.Progress, "waiting for another command in this clone: %s\n", owner)
	return true
}

// writeOwner writes into the file of the lock who holds it.
func writeOwner(file *os.File, command string) error {
	if err := file.Truncate(0); err != nil {
		return err
	}
	_, err := file.WriteAt(fmt.Appendf(nil, "process %d (%s)", os.Getpid(), command), 0)
	return err
}
