// Package workspace finds the folder that holds the course, so that its
// programs run from anywhere below it.
package workspace

import (
	"fmt"
	"os"
	"path/filepath"
)

// Root returns the nearest folder, dir itself or one above it, that holds a
// go.work file.
func Root(dir string) (string, error) {
	start, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("finding the workspace from %s: %w", dir, err)
	}
	for at := start; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "go.work")); err == nil {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("no go.work in %s or above it: run this inside the workspace", start)
		}
	}
}
