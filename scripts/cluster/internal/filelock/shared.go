// A lock that several hold at once, for others to see that somebody does.

package filelock

import (
	"errors"
	"os"
	"syscall"
)

// Share makes the file at path, if need be, and locks it together with others.
// The lock is gone after Unshare, or when all processes that have the open file,
// children that inherited it included, have ended or closed it.
func Share(path string) (*os.File, error) {
	return lock(path, os.O_CREATE|os.O_RDONLY, syscall.LOCK_SH)
}

// Unshare ends the lock even where a child of this process still has the file open.
func Unshare(f *os.File) error {
	return errors.Join(syscall.Flock(int(f.Fd()), syscall.LOCK_UN), f.Close())
}

// Shared reports whether somebody holds the lock on path. It must not be called
// while another process may be about to Share.
func Shared(path string) (bool, error) {
	f, err := lock(path, os.O_RDONLY, syscall.LOCK_EX)
	switch {
	case errors.Is(err, ErrBusy):
		return true, nil
	case errors.Is(err, os.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	}
	return false, f.Close()
}
