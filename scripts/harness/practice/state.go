// The state of an exercise, which is kept in git.

package main

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// The states of an exercise. Each exercise that is open or solved has a reference in git with its
// state and its name. It points to the commit with the book's code.
const (
	untouched = ""
	open      = "open"
	solved    = "solved"
)

// ref returns the reference of the exercise in a state.
func (e exercise) ref(state string) string { return "refs/practice/" + state + "/" + e.name }

// state returns the state of the exercise.
func (e exercise) state(root string) string {
	refs, _ := git(root, "for-each-ref", "--format=%(refname:lstrip=2)", e.ref("*"))
	state, _, _ := strings.Cut(refs, "/")
	return state
}

// setState sets the state of the exercise.
func (e exercise) setState(root, to string) error {
	from := e.state(root)
	if to != untouched {
		if _, err := git(root, "update-ref", e.ref(to), bookRef(root)); err != nil {
			return err
		}
	}
	if from == untouched || from == to {
		return nil
	}
	_, err := git(root, "update-ref", "-d", e.ref(from))
	return err
}

// bookRef returns a commit with the book's code. That is HEAD at the time when the first exercise
// was started.
func bookRef(root string) string {
	if refs, _ := git(root, "for-each-ref", "--format=%(refname)", "refs/practice"); refs != "" {
		return strings.Fields(refs)[0] // all of them point to that commit
	}
	return "HEAD"
}

// git runs a git command in a folder, and returns its output.
func git(dir string, args ...string) (string, error) {
	command := exec.Command("git", args...)
	command.Dir = dir
	text, err := command.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(string(exit.Stderr)))
	}
	return string(text), err
}
