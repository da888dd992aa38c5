// Reading files of the workspace.

package book

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
)

// Stat returns what a folder or a regular file of the workspace ws is. It follows no link: no part of
// the path may be one. Anything else is an error, too: to read a pipe may take forever.
func Stat(ws fs.FS, name string) (info fs.FileInfo, err error) {
	info, err = fs.Lstat(ws, name)
	switch {
	case errors.Is(err, fs.ErrNotExist) || !fs.ValidPath(name):
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	case err != nil:
		return nil, err
	case !info.IsDir() && !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file: its mode is %v", name, info.Mode())
	}
	if folder := path.Dir(name); folder != "." {
		if _, err := Stat(ws, folder); err != nil {
			return nil, err
		}
	}
	return info, nil
}

// readFile returns the text of a regular file of the workspace.
func (b *Book) readFile(name string) ([]byte, error) {
	if _, err := Stat(b.ws, name); err != nil {
		return nil, err
	}
	return fs.ReadFile(b.ws, name)
}
