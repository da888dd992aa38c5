// Files that nobody sees half written.

package filelock

import (
	"os"
	"path/filepath"
)

// Partial is where WriteFile keeps a file until it is whole: one name, so that
// what was cut short is written over.
func Partial(path string) string { return path + ".partial" }

// WriteFile is os.WriteFile, except that it makes the folder too, if need be, and
// that the file appears whole or not at all.
func WriteFile(path string, content []byte, mode os.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(Partial(path), content, mode); err != nil {
		_ = os.Remove(Partial(path)) // a full disk needs the room
		return err
	}
	return os.Rename(Partial(path), path)
}
