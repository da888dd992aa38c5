// Package workspace finds the folder of the course, so that its programs run from any folder below
// it.
package workspace

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

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

// CheckNoExerciseIsOpen returns an error while an exercise is open, because then the code is not the book's. A
// folder that is not in git has no open exercises.
func CheckNoExerciseIsOpen(root string) error {
	list := exec.Command("git", "for-each-ref", "--format=%(refname:lstrip=3)", "refs/practice/open")
	list.Dir = root
	open, _ := list.Output()
	if len(open) == 0 {
		return nil
	}
	return fmt.Errorf("exercises are open: %s. Solve them (scripts/practice.sh check), or put the book's code back "+
		"(scripts/practice.sh reset NAME)", strings.Join(strings.Fields(string(open)), ", "))
}
