// Package filelock keeps processes out of each other's way: one at a time works
// in a folder, or several use the same thing and others can see that, and no one
// reads a file that another is still writing.
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

// ErrBusy says that someone else holds the lock.
var ErrBusy = errors.New("locked by another process")

// Acquire locks the folder dir, which must exist, against other processes and
// other callers in this one. While someone else holds the lock it waits, until
// ctx ends; busy is called once if it has to. The lock goes away with release
// or with the process, whichever comes first, and leaves no file behind.
func Acquire(ctx context.Context, dir string, busy func()) (release func(), err error) {
	for first := true; ; first = false {
		release, err := TryAcquire(dir)
		if !errors.Is(err, ErrBusy) {
			return release, err
		}
		if first && busy != nil {
			busy()
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(retryEvery):
		}
	}
}

// TryAcquire is Acquire without the wait: the error is ErrBusy instead.
func TryAcquire(dir string) (release func(), err error) {
	f, err := lock(dir, os.O_RDONLY, syscall.LOCK_EX)
	if err != nil {
		return nil, err
	}
	return func() { f.Close() }, nil
}

// lock opens path and locks what it finds there. ErrBusy may also mean that this
// was removed meanwhile, perhaps replaced: a lock on it would keep nobody out.
func lock(path string, flag, how int) (*os.File, error) {
	f, err := os.OpenFile(path, flag, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) || err == nil && !isAt(f, path) {
		err = ErrBusy
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return f, nil
}

func isAt(f *os.File, path string) bool {
	locked, err := f.Stat()
	if err != nil {
		return false
	}
	now, err := os.Stat(path)
	return err == nil && os.SameFile(locked, now)
}
