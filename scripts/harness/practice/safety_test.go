// Tests that nothing of the reader's is lost, whatever happens to a command or to the clone.

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"example.com/informer/scripts/harness/must"
)

// TestMain lets a test run a command in a process of its own, which can be killed.
func TestMain(m *testing.M) {
	if os.Getenv("PRACTICE_TEST_COMMAND") != "" {
		if err := runInWorkspace(context.Background(), os.Args[1:], os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// process returns a command in a process of its own. shell comes before it.
func process(t *testing.T, root, shell string, args ...string) *exec.Cmd {
	t.Helper()
	args = append([]string{"-c", shell + `exec "$0" "$@"`, value(os.Executable())}, args...)
	command := exec.CommandContext(t.Context(), "sh", args...)
	command.Dir = root
	command.Env = append(os.Environ(), "PRACTICE_TEST_COMMAND=yes")
	return command
}

// An interrupted command is run with a toy that is ready for it. Afterwards, and when it has run to its
// end, what the reader has must be there.
type interrupted struct {
	args    []string
	prepare func(t *testing.T, root string)
	after   func(t *testing.T, root, when string) // it was interrupted
	atEnd   func(t *testing.T, root, when string) // the same command has run again
}

// wantFile wants a file to have one of these texts.
func wantFile(t *testing.T, when, name string, texts ...string) {
	t.Helper()
	got, err := os.ReadFile(name)
	for _, want := range texts {
		if err == nil && string(got) == want {
			return
		}
	}
	t.Errorf("%s: %s is %q (%v), want one of %q", when, name, got, err, texts)
}

// interruptedCommands are those that write.
func interruptedCommands(t *testing.T) map[string]interrupted {
	book := toyText(toy(t))
	start := strings.Replace(book, `return strings.Join(parts, separator())`, hole, 1)
	const dropped = "\n// separator stands between two parts.\nfunc separator() string { return \"/\" }\n"
	start = strings.Replace(start, dropped, "", 1)
	mine := strings.Replace(start, hole, ofMine, 1)
	own := strings.Replace(book, "package toy\n", "package toy\n\n// mine\n", 1)
	kept := strings.Replace(mine, "package toy\n", "package toy\n\n// mine\n", 1)
	toyOf := func(root string) string { return filepath.Join(root, toyFile) }
	ownChange := func(t *testing.T, root string) { writeFile(t, root, toyFile, own) }
	solved := func(t *testing.T, root string) { // without the compiler
		runCommand(t, root, "start", "join")
		change(t, in(root, "join"), hole, ofMine)
		p := &practice{root: root, gitDir: filepath.Join(root, ".git")}
		must.NoError(t, p.alone(func() error {
			return p.remember(exercise{name: "join"}, func(r *record) { r.Passed, r.Solved = true, true })
		}))
		ownChange(t, root)
	}
	wantOwn := func(t *testing.T, root, when string) { wantFile(t, when, toyOf(root), own) }
	return map[string]interrupted{
		"start": {
			args: []string{"start", "join"}, prepare: ownChange, after: wantOwn,
			atEnd: func(t *testing.T, root, when string) {
				wantOwn(t, root, when)
				wantFile(t, when, toyOf(in(root, "join")), start)
				if status := byReader(t, in(root, "join"), "status", "--short"); status != "" {
					t.Errorf("%s, in the exercise git status prints\n%s", when, status)
				}
				list := byReader(t, root, "worktree", "list")
				if strings.Count(list, "\n") != 2 || strings.Contains(list, "prunable") {
					t.Errorf("%s, git knows\n%s\nwant the clone and the exercise", when, list)
				}
			},
		},
		"reset": {
			args: []string{"reset", "join"}, prepare: solved,
			after: func(t *testing.T, root, when string) {
				wantOwn(t, root, when)
				if text, err := os.ReadFile(toyOf(in(root, "join"))); err != nil || string(text) != mine {
					if kept := byReader(t, root, "show", "refs/practice/reset/join:"+toyFile); kept != mine {
						t.Errorf("%s, the reader's text is neither in the folder nor kept", when)
					}
				}
			},
			atEnd: func(t *testing.T, root, when string) {
				wantFile(t, when, toyOf(in(root, "join")), start)
				log := byReader(t, root, "log", "--patch", "-m", "refs/practice/reset/join")
				if !strings.Contains(log, "+\t"+ofMine) {
					t.Errorf("%s, the reader's text is not kept", when)
				}
			},
		},
		"keep": {
			args: []string{"keep", "join"}, prepare: solved,
			after: func(t *testing.T, root, when string) {
				wantFile(t, when, toyOf(root), own, kept)
				wantFile(t, when, toyOf(in(root, "join")), mine)
			},
			atEnd: func(t *testing.T, root, when string) { wantFile(t, when, toyOf(root), kept) },
		},
	}
}

// try runs an interrupted command, and then again.
func (c interrupted) try(t *testing.T, root, when string, interrupt func(root string) (ended bool)) (ended bool) {
	t.Helper()
	c.prepare(t, root)
	ended = interrupt(root)
	c.after(t, root, when)
	runCommand(t, root, c.args...)
	c.atEnd(t, root, when)
	return ended
}

// dyingGit is a script in the place of git. It kills the command that calls it, before one of the calls
// that follow or do a write.
const dyingGit = `#!/bin/sh
case " $* " in
*" rev-parse "* | *" cat-file "* | *" log "* | *" config "* | *" diff "* | *" ls-files "*)
	exec "$REAL" "$@" ;;
esac
n=$(($(cat "$CALLS" 2>/dev/null) + 1))
echo $n >"$CALLS"
[ $n != "$AT" ] || { kill -9 $PPID; exit 1; }
exec "$REAL" "$@"
`

// A command that is killed between any two calls of git, and so before and after each of its writes.
func TestKilledBetweenAnyTwoWrites(t *testing.T) {
	realGit := value(exec.LookPath("git"))
	bin := t.TempDir()
	must.NoError(t, os.WriteFile(filepath.Join(bin, "git"), []byte(dyingGit), 0o755))
	for name, command := range interruptedCommands(t) {
		t.Run(name, func(t *testing.T) {
			ended := false
			for at := 1; !ended; at++ {
				ended = command.try(t, toy(t), fmt.Sprintf("killed at call %d", at), func(root string) bool {
					killed := process(t, root, "", command.args...)
					killed.Env = append(killed.Env, "PATH="+bin+":"+os.Getenv("PATH"), "REAL="+realGit,
						"CALLS="+filepath.Join(t.TempDir(), "calls"), "AT="+strconv.Itoa(at))
					return killed.Run() == nil
				})
			}
		})
	}
}

// A command that is killed with all of its children, at any moment.
func TestKilledAtAnyMoment(t *testing.T) {
	for name, command := range interruptedCommands(t) {
		t.Run(name, func(t *testing.T) {
			ended := false
			for after := 5 * time.Millisecond; !ended; after *= 2 {
				ended = command.try(t, toy(t), fmt.Sprintf("killed after %v", after), func(root string) bool {
					killed := process(t, root, "", command.args...)
					killed.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
					must.NoError(t, killed.Start())
					timer := time.AfterFunc(after, func() { _ = syscall.Kill(-killed.Process.Pid, syscall.SIGKILL) })
					defer timer.Stop()
					return killed.Wait() == nil
				})
			}
		})
	}
}

// A command on a disk that is full: no file can have more than some blocks, of this program and of git.
func TestAFullDisk(t *testing.T) {
	for name, command := range interruptedCommands(t) {
		t.Run(name, func(t *testing.T) {
			ended, failed := false, 0
			for blocks := 0; !ended; blocks = 1 + 2*blocks {
				ended = command.try(t, toy(t), fmt.Sprintf("with %d blocks", blocks), func(root string) bool {
					shell := fmt.Sprintf("trap '' XFSZ; ulimit -f %d; ", blocks)
					output, err := process(t, root, shell, command.args...).CombinedOutput()
					if err != nil {
						failed++
						if len(output) == 0 {
							t.Errorf("with %d blocks, it says nothing", blocks)
						}
					}
					return err == nil
				})
			}
			if failed == 0 {
				t.Error("it has never failed: the disk was not full")
			}
		})
	}
}

// Two commands at the same moment work one after the other.
func TestTwoCommandsAtTheSameMoment(t *testing.T) {
	root := toy(t)
	lockFor(t, time.Minute)
	both := func(first, second []string) {
		var running sync.WaitGroup
		for _, args := range [][]string{first, second} {
			running.Go(func() {
				if err := run(t.Context(), root, args, io.Discard); err != nil {
					t.Errorf("%q: %v", args, err)
				}
			})
		}
		running.Wait()
	}
	for i := range 50 {
		switch i % 3 {
		case 0:
			both([]string{"start", "join"}, []string{"start", "count"})
		case 1:
			both([]string{"reset", "join"}, []string{"reset", "count"})
		default:
			must.NoError(t, os.RemoveAll(in(root, "join")))
			both([]string{"start", "join"}, []string{"start", "join"})
		}
		wantContains(t, "list", runCommand(t, root, "list"), "open   write join", "open   fix   count")
		wantContains(t, "join", toyText(in(root, "join")), hole)
		wantContains(t, "count", toyText(in(root, "count")), `strings.Count(joined, "/")`+"\n")
	}
}

// lockFor sets lockPatience until the end of the test.
func lockFor(t *testing.T, patience time.Duration) {
	old := lockPatience
	t.Cleanup(func() { lockPatience = old })
	lockPatience = patience
}

// A command that waits in vain for another one says which one that is, and changes nothing.
func TestACommandThatIsLockedOut(t *testing.T) {
	root := toy(t)
	lockFor(t, 0)
	holder := &practice{root: root, gitDir: filepath.Join(root, ".git"), command: "start count"}
	must.NoError(t, holder.alone(func() error {
		for _, args := range [][]string{{"start", "join"}, {"next"}} {
			wantRefused(t, root, args, fmt.Sprintf("practice start count (process %d) has locked ", os.Getpid()))
		}
		return nil
	}))
	if _, err := os.Stat(in(root, "join")); err == nil {
		t.Error("a command that was locked out has started join")
	}
	runCommand(t, root, "next")
}

// In each of these clones an exercise is started, goes on after something has happened to the clone, and
// is kept. The reader's text stays.
func TestClones(t *testing.T) {
	move := func(t *testing.T, root string) string {
		moved := filepath.Join(t.TempDir(), "moved")
		must.NoError(t, os.Rename(root, moved))
		return moved
	}
	clone := func(t *testing.T, args ...string) string {
		origin, root := toy(t), filepath.Join(t.TempDir(), "clone")
		byReader(t, origin, append(append([]string{"clone", "--quiet"}, args...), "file://"+origin, root)...)
		return root
	}
	for name, test := range map[string]struct {
		make   func(t *testing.T) (root string)
		happen func(t *testing.T, root string) (now string)
	}{
		"shallow": {make: func(t *testing.T) string { return clone(t, "--depth=1") }},
		"detached": {make: func(t *testing.T) string {
			root := clone(t)
			byReader(t, root, "checkout", "--quiet", "--detach")
			return root
		}},
		"autocrlf": {make: func(t *testing.T) string {
			return clone(t, "--config=core.autocrlf=true", "--config=core.safecrlf=true")
		}},
		"without identity, with hooks that fail, signed": {make: func(t *testing.T) string {
			root := clone(t, "--config=commit.gpgSign=true", "--config=user.useConfigOnly=true")
			for _, hook := range []string{"post-checkout", "reference-transaction", "pre-commit"} {
				name := filepath.Join(root, ".git/hooks", hook)
				must.NoError(t, os.WriteFile(name, []byte("#!/bin/sh\nexit 1\n"), 0o755))
			}
			return root
		}},
		"a worktree of the reader's": {make: func(t *testing.T) string {
			root := filepath.Join(t.TempDir(), "another")
			byReader(t, toy(t), "worktree", "add", "--quiet", root)
			return root
		}},
		"a name that is not ASCII": {make: func(t *testing.T) string {
			root := clone(t)
			renamed := filepath.Join(filepath.Dir(root), "größe [1]")
			must.NoError(t, os.Rename(root, renamed))
			return renamed
		}},
		"GIT_DIR of a hook": {make: func(t *testing.T) string {
			root := clone(t)
			t.Setenv("GIT_DIR", filepath.Join(t.TempDir(), "elsewhere"))
			return root
		}},
		"moved": {happen: move},
		"moved and pruned": {happen: func(t *testing.T, root string) string {
			root = move(t, root)
			byReader(t, root, "worktree", "prune")
			return root
		}},
		"copied": {happen: func(t *testing.T, root string) string {
			copied := filepath.Join(t.TempDir(), "copied")
			must.NoError(t, os.CopyFS(copied, os.DirFS(root)))
			t.Cleanup(func() {
				if text := toyText(in(root, "join")); !strings.Contains(text, ofMine) {
					t.Errorf("in the original, the file is\n%s\nwant it as it was", text)
				}
				byReader(t, in(root, "join"), "status")
			})
			return copied
		}},
		"the link is lost": {happen: func(t *testing.T, root string) string {
			must.NoError(t, os.Remove(filepath.Join(in(root, "join"), ".git")))
			return root
		}},
		"what the tool remembers is lost": {happen: func(t *testing.T, root string) string {
			must.NoError(t, os.Remove(filepath.Join(root, ".git/practice.json")))
			return root
		}},
		"cleaned": {happen: func(t *testing.T, root string) string {
			byReader(t, root, "clean", "-fdx")
			return root
		}},
		"collected": {happen: func(t *testing.T, root string) string {
			byReader(t, root, "gc", "--quiet", "--prune=now")
			return root
		}},
		"a commit in the exercise": {happen: func(t *testing.T, root string) string {
			commit(t, in(root, "join"))
			return root
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if test.make == nil {
				test.make = toy
			}
			root := test.make(t)
			runCommand(t, root, "start", "join")
			change(t, in(root, "join"), hole, ofMine)
			if test.happen != nil {
				root = test.happen(t, root)
			}
			book, mine := toyText(root), toyText(in(root, "join"))
			for _, command := range []string{"start", "check", "solution"} {
				runCommand(t, root, command, "join")
			}
			wantFile(t, "afterwards", filepath.Join(root, toyFile), book)
			wantFile(t, "afterwards", filepath.Join(in(root, "join"), toyFile), mine)
			os.Unsetenv("GIT_DIR")
			top := byReader(t, in(root, "join"), "rev-parse", "--show-toplevel")
			if !isSame(strings.TrimSpace(top), in(root, "join")) {
				t.Errorf("in the exercise, git works in %s", top)
			}
			if status := byReader(t, root, "status", "--short"); status != "" {
				t.Errorf("git status prints\n%s\nwant nothing", status)
			}
			runCommand(t, root, "keep", "join")
			wantContains(t, "what is kept", toyText(root), ofMine)
			runCommand(t, root, "reset", "join")
			wantContains(t, "after the reset", toyText(in(root, "join")), hole)
			runCommand(t, root, "start", "count")
		})
	}
}
