// Package workspace finds the folder that holds the course, so that a chapter
// runs from anywhere below it.
package workspace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// ErrNotFound is wrapped by the error that Root returns outside the workspace.
var ErrNotFound = errors.New("no go.work in this folder or above it")

// Root returns the nearest folder, from the working directory upwards, that
// holds a go.work file.
func Root() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("finding the workspace: %w", err)
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.work")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("finding the workspace from %s: %w", start, ErrNotFound)
		}
	}
}
