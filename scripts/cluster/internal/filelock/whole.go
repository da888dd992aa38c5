// Files that nobody sees half written.

package filelock

import "os"

// Partial is where WriteFile keeps a file until it is whole: one name, so that
// what was cut short is written over.
func Partial(path string) string { return path + ".partial" }

// WriteFile is os.WriteFile, except that the file appears whole or not at all.
func WriteFile(path string, content []byte, mode os.FileMode) error {
	if err := os.WriteFile(Partial(path), content, mode); err != nil {
		_ = os.Remove(Partial(path)) // a full disk needs the room
		return err
	}
	return os.Rename(Partial(path), path)
}
