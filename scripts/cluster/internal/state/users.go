// Who uses the cluster, and whether the last one removes it. The callers hold
// the lock of the folder.

package state

import (
	"errors"
	"os"
	"path/filepath"

	"example.com/informer/scripts/cluster/internal/filelock"
)

// usersFile is locked by everybody who uses the cluster. It goes away with the
// cluster: the file of another cluster is another file.
func (d Dir) usersFile() string { return filepath.Join(string(d), "users") }

// temporaryFile is there if the cluster was made for its users alone.
func (d Dir) temporaryFile() string { return filepath.Join(string(d), "temporary") }

// SetTemporary has the cluster removed with its last user.
func (d Dir) SetTemporary() error { return os.WriteFile(d.temporaryFile(), nil, 0o600) }

// Keep has the cluster stay until somebody asks for its removal.
func (d Dir) Keep() error { return os.RemoveAll(d.temporaryFile()) }

// Join makes the caller a user of the cluster until Leave, or until the last
// process that has the file open has ended.
func (d Dir) Join() (*os.File, error) { return filelock.Share(d.usersFile()) }

// InUse reports whether somebody uses the cluster.
func (d Dir) InUse() (bool, error) { return filelock.Shared(d.usersFile()) }

// Leave ends what Join began. It returns true if the cluster is temporary and
// nobody else uses it, and false if another one has taken its place.
func (d Dir) Leave(user *os.File) (remove bool, err error) {
	mine, err := user.Stat()
	if err := errors.Join(err, filelock.Unshare(user)); err != nil {
		return false, err
	}
	now, err := os.Stat(d.usersFile())
	if err != nil || !os.SameFile(mine, now) {
		return false, nil
	}
	if _, err := os.Stat(d.temporaryFile()); err != nil {
		return false, nil
	}
	others, err := d.InUse()
	return !others, err
}
