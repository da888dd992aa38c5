// The command keep, the only one that changes the reader's own files.

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A mergedFile is a file of the clone with the reader's solution in it.
type mergedFile struct {
	name string
	text []byte
	mode os.FileMode
}

// keep brings the Go files of a solution into the clone, so that later chapters run on them. It merges
// them with what is there. If one of them has other changes at the same place, no file changes.
func (p *practice) keep(e exercise) error {
	if p.stateOf(e) != solved {
		return fmt.Errorf("%s is not solved, and nothing has changed: scripts/practice.sh check %[1]s", e.name)
	}
	if err := p.prepare(e); err != nil {
		return err
	}
	names, err := p.changed(e, "*.go")
	if err != nil {
		return err
	}
	var files []mergedFile
	var conflicts []string
	for _, name := range names {
		merged, err := p.merge(e, name)
		switch {
		case errors.Is(err, errConflict):
			conflicts = append(conflicts, name)
		case err != nil:
			return err
		case merged != nil:
			files = append(files, *merged)
		}
	}
	if len(conflicts) > 0 {
		return fmt.Errorf("your clone has other changes at the same places of %s. Nothing has changed, and your "+
			"solution is in %s", strings.Join(conflicts, ", "), e.folder())
	}
	for _, file := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(p.root, file.name)), 0o755); err != nil {
			return err
		}
		if err := writeWhole(filepath.Join(p.root, file.name), file.text, file.mode); err != nil {
			return fmt.Errorf("%w; try again", err)
		}
		p.printf("Yours now: %s\n", file.name)
	}
	if len(files) == 0 {
		p.printf("The clone has this code already, and nothing has changed.\n")
		return nil
	}
	p.printf("The steps of this chapter, and of later ones, run on it. " +
		"git diff shows it, and git checkout takes it back.\n")
	return nil
}

var errConflict = errors.New("both sides have changed the same lines")

// merge returns a file of the clone with the changes of the solution to the book's file, or nil if the
// file has them already. What the solution does not have stays.
func (p *practice) merge(e exercise, name string) (*mergedFile, error) {
	theirs, err := os.ReadFile(filepath.Join(p.place(e), name))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	base, err := git(p.root, "show", p.state.Exercises[e.name].Book+":"+name)
	isNew := err != nil
	path := filepath.Join(p.root, name)
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, os.ErrNotExist) && isNew:
		return &mergedFile{name, theirs, 0o644}, nil
	case errors.Is(err, os.ErrNotExist):
		return nil, errConflict
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errConflict
	}
	ours, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	temporary, err := os.MkdirTemp("", "practice")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temporary)
	unix := func(text []byte) []byte { return bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")) }
	args := []string{"merge-file", "--stdout", "--quiet"}
	for side, text := range [][]byte{unix(ours), unix([]byte(base)), unix(theirs)} {
		file := filepath.Join(temporary, fmt.Sprint(side))
		if err := os.WriteFile(file, text, 0o600); err != nil {
			return nil, err
		}
		args = append(args, file)
	}
	output, err := git(p.root, args...)
	if err != nil {
		return nil, errConflict
	}
	merged := []byte(output)
	if bytes.Contains(ours, []byte("\r\n")) {
		merged = bytes.ReplaceAll(merged, []byte("\n"), []byte("\r\n"))
	}
	if bytes.Equal(merged, ours) {
		return nil, nil
	}
	return &mergedFile{name, merged, info.Mode().Perm()}, nil
}
