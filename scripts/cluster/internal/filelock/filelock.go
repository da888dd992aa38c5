// Package filelock keeps processes out of each other's way: one at a time works
// in a folder, or several use the same thing and others can tell.
package filelock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// retryEvery is how often a lock that another process holds is tried again.
const retryEvery = 100 * time.Millisecond

// Acquire locks the folder dir, which must exist, against other processes and
// other callers in this one. While someone else holds the lock it waits, until
// ctx ends; busy is called once if it has to. The lock goes away with release
// or with the process, whichever comes first, and leaves no file behind.
func Acquire(ctx context.Context, dir string, busy func()) (release func(), err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	for first := true; ; first = false {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { f.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			f.Close()
			return nil, fmt.Errorf("lock %s: %w", dir, err)
		}
		if first && busy != nil {
			busy()
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, context.Cause(ctx)
		case <-time.After(retryEvery):
		}
	}
}
