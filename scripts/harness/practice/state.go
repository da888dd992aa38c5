// What the tool remembers of the exercises: a file in the folder of git, and a lock.

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// The states of an exercise. It is started if its folder is there.
const (
	untouched = ""
	open      = "open"
	solved    = "solved" // its last check has passed
)

// A progress is what the tool remembers. It is not in .practice, from where git clean -x would remove it.
type progress struct {
	Book      string            `json:"book,omitempty"` // the commit that the last start was made from
	Exercises map[string]record `json:"exercises"`      // by name
}

// A record is what the tool remembers of an exercise.
type record struct {
	Start  string `json:"start,omitempty"` // the commit that it has begun with
	Book   string `json:"book,omitempty"`  // the commit that the start was made from
	Hints  int    `json:"hints,omitempty"` // how many were given
	Passed bool   `json:"passed,omitempty"`
	Solved bool   `json:"solved,omitempty"` // once; it stays
}

// findGit returns the folder of git. A worktree of the reader's has its own.
func findGit(dir string) (string, error) {
	found, err := git(dir, "rev-parse", "--absolute-git-dir")
	if err != nil {
		return "", fmt.Errorf("the exercises need a clone made by git: %w", err)
	}
	return strings.TrimSuffix(found, "\n"), nil
}

// stateFile has what the tool remembers.
func (p *practice) stateFile() string { return filepath.Join(p.gitDir, "practice.json") }

// readState reads what the tool remembers.
func (p *practice) readState() error {
	p.state = progress{Exercises: map[string]record{}}
	text, err := os.ReadFile(p.stateFile())
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(text, &p.state)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", p.stateFile(), err)
	}
	return nil
}

// remember changes what the tool remembers of an exercise, and writes it. The caller is alone.
func (p *practice) remember(e exercise, change func(*record)) error {
	r := p.state.Exercises[e.name]
	change(&r)
	p.state.Exercises[e.name] = r
	text, err := json.MarshalIndent(p.state, "", "  ")
	if err != nil {
		return err
	}
	return writeWhole(p.stateFile(), append(text, '\n'), 0o644)
}

// writeWhole writes a file in one step. If that fails, or if this program is killed meanwhile, the
// file is as it was.
func writeWhole(name string, text []byte, mode os.FileMode) error {
	file, err := os.CreateTemp(filepath.Dir(name), ".practice-*") // go does not read such a file
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(file.Name()) }() // after the rename, it is not there
	_, err = file.Write(text)
	if err := errors.Join(err, file.Chmod(mode), file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), name)
}

// lockPatience is how long a command waits for another one. A command takes a moment.
var lockPatience = 30 * time.Second

// alone calls f while no other command changes an exercise or what the tool remembers. The lock says
// who has it.
func (p *practice) alone(f func() error) error {
	name := filepath.Join(p.gitDir, "practice.lock")
	file, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return err
	}
	defer file.Close() // unlocks it
	begin := time.Now()
	for syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		if time.Since(begin) > lockPatience {
			holder, _ := os.ReadFile(name)
			return fmt.Errorf("another command is at work, and nothing has changed: %s has locked %s. "+
				"Try again when it has ended", strings.TrimSpace(string(holder)), name)
		}
		time.Sleep(10 * time.Millisecond)
	}
	_ = file.Truncate(0) // the lock holds without this text
	_, _ = fmt.Fprintf(file, "practice %s (process %d)\n", p.command, os.Getpid())
	if err := p.readState(); err != nil {
		return err
	}
	return f()
}
