// Package workspace finds the folder of the course, so that its programs run from any folder below
// it.
package workspace

import (
	"fmt"
	"os"
	"path/filepath"
)

// PracticeFolder is the folder of a clone with the exercises: .practice/NAME is a worktree of the clone.
const PracticeFolder = ".practice"

// Root returns the nearest folder with a go.work file: dir itself, or a folder above it.
func Root(dir string) (string, error) {
	start, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("finding the workspace from %s: %w", dir, err)
	}
	for folder := start; ; folder = filepath.Dir(folder) {
		if _, err := os.Stat(filepath.Join(folder, "go.work")); err == nil {
			return folder, nil
		}
		if folder == filepath.Dir(folder) {
			return "", fmt.Errorf("no go.work in %s or above it: run this inside the workspace", start)
		}
	}
}

// Clone returns the root of the clone that dir is in. In the worktree of an exercise, this is not the
// worktree, but the clone that it belongs to: they share a cluster, and the progress of the exercises.
func Clone(dir string) (string, error) {
	root, err := Root(dir)
	if above := filepath.Dir(root); err == nil && filepath.Base(above) == PracticeFolder {
		return Root(filepath.Dir(above))
	}
	return root, err
}
