// What practice remembers of the exercises. It is kept in git, as references below refs/practice.

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// The states of an exercise. Each exercise that is open or solved has a reference in git with its
// state and its name. It points to the commit with the book's code.
const (
	untouched = ""
	open      = "open"
	solved    = "solved"
)

// The other references below refs/practice.
const (
	readers  = "mine"               // mine/NAME is a file with the reader's version of an exercise
	done     = "done"               // done/NAME stays after the exercise was solved once
	bookName = "refs/practice/book" // HEAD when the first exercise was started
)

// ref returns the reference of the exercise in a state.
func (e exercise) ref(state string) string { return "refs/practice/" + state + "/" + e.name }

// states returns the states of the exercises that are open or solved, by name.
func states(root string) map[string]string {
	refs, _ := git(root, "for-each-ref", "--format=%(refname:lstrip=2)", "refs/practice/open", "refs/practice/solved")
	all := map[string]string{}
	for _, ref := range strings.Fields(refs) {
		state, name, _ := strings.Cut(ref, "/")
		all[name] = state
	}
	return all
}

// solvedOnce returns the exercises that were solved once, by name. They may have been reset, or
// started again, since then.
func solvedOnce(root string) map[string]bool {
	refs, _ := git(root, "for-each-ref", "--format=%(refname:lstrip=3)", "refs/practice/solved", "refs/practice/done")
	all := map[string]bool{}
	for _, name := range strings.Fields(refs) {
		all[name] = true
	}
	return all
}

// state returns the state of the exercise.
func (e exercise) state(root string) string { return states(root)[e.name] }

// setState sets the state of the exercise.
func (e exercise) setState(root, to string) error {
	from, book := e.state(root), bookCommit(root)
	var refs []string
	if to != untouched {
		refs = append(refs, bookName, e.ref(to))
	}
	if from == solved || to == solved {
		refs = append(refs, e.ref(done))
	}
	for _, ref := range refs {
		if _, err := git(root, "update-ref", ref, book); err != nil {
			return err
		}
	}
	if from != untouched && from != to {
		if _, err := git(root, "update-ref", "-d", e.ref(from)); err != nil {
			return err
		}
	}
	if len(states(root)) > 0 {
		return nil
	}
	_, err := git(root, "update-ref", "-d", bookName) // all of the code is the book's
	return err
}

// startedAt returns when the exercise was started, or its code was brought back, the last time. The
// code at its place is the reader's code for the exercise with the latest time.
func (e exercise) startedAt(root string) int64 { return configNumber(root, e.startedKey()) }

// setStartedAt sets startedAt to now.
func (e exercise) setStartedAt(root string) error {
	_, err := git(root, "config", "--local", e.startedKey(), strconv.FormatInt(time.Now().UnixNano(), 10))
	return err
}

// startedKey and hintsKey are keys in git's configuration.
func (e exercise) startedKey() string { return "practice." + e.name + ".started" }
func (e exercise) hintsKey() string   { return "practice." + e.name + ".hints" }

// configNumber returns a number of git's configuration, or 0 if it has none of this key.
func configNumber(root, key string) int64 {
	text, err := git(root, "config", "--local", key)
	if err != nil {
		return 0
	}
	number, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil {
		return 0 // somebody else has written it
	}
	return number
}

// bookCommit returns a commit with the book's code. That is HEAD at the time when the first
// exercise was started, or the newest commit that the reader has pulled since then. It is never a
// commit of the reader's own, even if the reader has pushed it.
func bookCommit(root string) string {
	refs, _ := git(root, "for-each-ref", "--format=%(objectname)",
		bookName, "refs/practice/open", "refs/practice/solved")
	if refs == "" {
		return "HEAD"
	}
	began := strings.Fields(refs)[0]
	remote, _ := git(root, "log", "--format=%H", "--remotes", "--not", began)
	pulled, _ := git(root, "log", "--format=%H %ae", "HEAD", "--not", began)
	reader, _ := git(root, "var", "GIT_AUTHOR_IDENT")
	for line := range strings.Lines(pulled) {
		commit, author, _ := strings.Cut(strings.TrimSpace(line), " ")
		if strings.Contains(remote, commit) && !strings.Contains(reader, "<"+author+">") {
			return commit
		}
	}
	return began
}

// lockPatience is how long a command waits for another one. Both take a moment.
var lockPatience = 10 * time.Second

// alone calls f while no other command changes the reader's files or the state of the exercises.
// The worktrees of a clone share this state, and the lock.
func alone(root string, f func() error) error {
	dir, err := git(root, "rev-parse", "--path-format=absolute", "--git-common-dir")
	if err != nil {
		return err
	}
	name := filepath.Join(strings.TrimSuffix(dir, "\n"), "practice.lock")
	file, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return err
	}
	defer file.Close() // unlocks it
	begin := time.Now()
	for syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		if time.Since(begin) > lockPatience {
			return fmt.Errorf("another command is at work (it has locked %s): try again when it has ended", name)
		}
		time.Sleep(10 * time.Millisecond)
	}
	return f()
}

// git runs a git command in a folder, and returns its output.
func git(dir string, args ...string) (string, error) { return gitWithInput(dir, "", args...) }

// gitWithInput runs a git command that reads a text.
func gitWithInput(dir, input string, args ...string) (string, error) {
	command := exec.Command("git", args...)
	command.Dir = dir
	command.Stdin = strings.NewReader(input)
	text, err := command.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(string(exit.Stderr)))
	}
	return string(text), err
}
