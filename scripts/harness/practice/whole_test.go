// Tests that a command changes the reader's files and the state of the exercises as one.

package main

import (
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"example.com/informer/scripts/harness/must"
)

// wantOnlyTheToy wants no file in the folder of the toy but those that were there from the beginning.
func wantOnlyTheToy(t *testing.T, root string) {
	t.Helper()
	if status := value(git(root, "status", "--short", "--untracked-files=all")); strings.Contains(status, "??") {
		t.Errorf("git status prints\n%s\nwant no new file", status)
	}
}

// Start puts a new file in the place of the old one. A program that has opened the old one, and a
// reader whose machine fails now, find the old text, and never a part of the new one.
func TestTheFileIsReplacedInOneStep(t *testing.T) {
	root := toy(t)
	name, before := filepath.Join(root, toyFile), toyText(root)
	must.NoError(t, os.Chmod(name, 0o640))
	file := value(os.Open(name))
	defer file.Close()
	runCommand(t, root, "start", "join")
	if old := string(value(io.ReadAll(file))); old != before {
		t.Errorf("start has written into the old file, which is now\n%s\nwant\n%s", old, before)
	}
	wantContains(t, "start", toyText(root), hole)
	if got := value(os.Stat(name)).Mode(); got != 0o640 {
		t.Errorf("after start, the mode of the file is %v, want 0640 as before", got)
	}
	wantOnlyTheToy(t, root)
}

// A write that fails, because the disk is full, leaves the old file, and no other.
func TestAWriteThatFailsLeavesTheOldFile(t *testing.T) {
	root := toy(t)
	before := toyText(root)
	err := withFilesUpTo(t, 64, func() error {
		return writeWhole(filepath.Join(root, toyFile), before+strings.Repeat("// more\n", 64))
	})
	if err == nil {
		t.Error("writeWhole() = nil, want the error of the write")
	}
	if got := toyText(root); got != before {
		t.Errorf("the file is\n%s\nwant it as it was\n%s", got, before)
	}
	wantOnlyTheToy(t, root)
}

// withFilesUpTo calls f while no file of this process can have more than this number of bytes.
func withFilesUpTo(t *testing.T, limit uint64, f func() error) error {
	t.Helper()
	signal.Ignore(syscall.SIGXFSZ) // then the write returns an error
	defer signal.Reset(syscall.SIGXFSZ)
	var before syscall.Rlimit
	must.NoError(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before))
	must.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: limit, Max: before.Max}))
	defer func() { must.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before)) }()
	return f()
}

// If the state of an exercise cannot be written, its file is as it was, too.
func TestAStartWithoutItsStateChangesNothing(t *testing.T) {
	for _, locked := range []string{".git/config.lock", ".git/refs/practice/open/join.lock"} {
		t.Run(filepath.Base(locked), func(t *testing.T) {
			root := toy(t)
			before, list := toyText(root), runCommand(t, root, "list")
			writeFile(t, root, locked, "")
			wantRefused(t, root, []string{"start", "join"}, "File exists")
			if got := toyText(root); got != before {
				t.Errorf("after a start that was refused, the file is\n%s\nwant it as it was\n%s", got, before)
			}
			if got := runCommand(t, root, "list"); got != list {
				t.Errorf("after a start that was refused, list prints\n%s\nwant what it printed before\n%s", got, list)
			}
			must.NoError(t, os.Remove(filepath.Join(root, locked)))
			runCommand(t, root, "start", "join")
		})
	}
}

// Two commands at the same time work one after the other.
func TestTwoCommandsAtTheSameTime(t *testing.T) {
	root := toy(t)
	book := toyText(root)
	both := func(command string) {
		var running sync.WaitGroup
		for _, name := range []string{"join", "count"} {
			running.Go(func() {
				if err := run(t.Context(), root, []string{command, name}, io.Discard); err != nil {
					t.Errorf("%s %s: %v", command, name, err)
				}
			})
		}
		running.Wait()
	}
	for range 5 {
		both("start")
		wantContains(t, "list", runCommand(t, root, "list"), "open   write join", "open   fix   count")
		wantContains(t, "after both, the file", toyText(root), hole, `strings.Count(joined, "/")`+"\n")
		both("reset")
		if got := toyText(root); got != book {
			t.Fatalf("after reset of both, the file is\n%s\nwant\n%s", got, book)
		}
	}
}

// A command that waits in vain for another one says so, and changes nothing.
func TestACommandThatIsLockedOut(t *testing.T) {
	root := toy(t)
	before := toyText(root)
	defer func(patience time.Duration) { lockPatience = patience }(lockPatience)
	lockPatience = 0
	must.NoError(t, alone(root, func() error {
		for _, args := range [][]string{{"start", "join"}, {"next"}, {"reset", "join"}, {"mine", "join"}} {
			wantRefused(t, root, args, "another command is at work")
		}
		return nil
	}))
	if got := toyText(root); got != before {
		t.Errorf("the file is\n%s\nwant it as it was\n%s", got, before)
	}
	runCommand(t, root, "next")
}
