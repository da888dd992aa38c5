// Tests of the exercises of the course.

package main

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/workspace"
)

var allExercises = flag.Bool("all", false, "try all exercises, not only a few; most of them need a cluster")

// quickExercises are tried without -all. They need no cluster. The reader builds one of them, and
// fixes the other.
var quickExercises = []string{"put", "reconnect"}

// TestExercises tries the exercises as a reader would, in a copy of the workspace. Directly after
// its start an exercise compiles, and its check fails with the text that the exercise names. The
// check still fails with each wrong answer, and passes with the book's code.
func TestExercises(t *testing.T) {
	setTestTimeout(t, time.Minute) // the machine may be busy
	root := value(workspace.Root("."))
	all := value(load(root))
	copies := make(chan string, max(1, runtime.GOMAXPROCS(0)))
	for range cap(copies) {
		copies <- copyOf(t, root)
	}
	seen := map[string]bool{}
	for _, e := range all {
		if seen[e.name] {
			t.Errorf("two exercises are called %s", e.name)
		}
		seen[e.name] = true
		if !*allExercises && !slices.Contains(quickExercises, e.name) {
			continue
		}
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			dir := <-copies
			defer func() { copies <- dir }()
			tryExercise(t, dir, e)
		})
	}
	for _, name := range quickExercises {
		if !seen[name] {
			t.Errorf("no exercise is called %s, but quickExercises has it", name)
		}
	}
}

// tryExercise tries one exercise in a copy of the workspace.
func tryExercise(t *testing.T, dir string, e exercise) {
	file := filepath.Join(dir, e.file)
	book := value(os.ReadFile(file))
	defer func() { must.Do(t, os.WriteFile(file, book, 0o600)) }()

	runCommand(t, dir, "start", e.name)
	vet := exec.CommandContext(t.Context(), "go", "vet", ".")
	vet.Dir = filepath.Dir(file)
	text, err := vet.CombinedOutput()
	if err != nil {
		t.Errorf("after start: go vet: %v\n%s", err, text)
	}
	wantUnsolved(t, dir, e, e.failsWith)
	for _, wrong := range e.wrong {
		text, err := apply(string(book), wrong)
		if err != nil {
			t.Errorf("a wrong answer: %v", err)
			continue
		}
		must.Do(t, os.WriteFile(file, []byte(text), 0o600))
		wantUnsolved(t, dir, e, "")
	}
	must.Do(t, os.WriteFile(file, book, 0o600))
	runCommand(t, dir, "check", e.name)
	runCommand(t, dir, "reset", e.name)
	text = value(os.ReadFile(file))
	if string(text) != string(book) {
		t.Errorf("after reset, %s is\n%s\nwant the book's code\n%s", e.file, text, book)
	}
}

var compilerError = regexp.MustCompile(`\.go:\d+:\d+: `)

// wantUnsolved checks an exercise in dir whose code is wrong. It wants this text in the output.
func wantUnsolved(t *testing.T, dir string, e exercise, text string) {
	t.Helper()
	var out strings.Builder
	if err := run(t.Context(), dir, []string{"check", e.name}, &out); err == nil {
		t.Errorf("check passes, but should fail, with this change:\n%s", value(git(dir, "diff")))
	}
	if compilerError.MatchString(out.String()) {
		t.Errorf("the code does not compile:\n%s", &out)
	}
	if !strings.Contains(out.String(), text) {
		t.Errorf("check printed\n%s\nwant %q in it", &out, text)
	}
	const limit = 40
	if lines := strings.Count(out.String(), "\n"); lines > limit {
		t.Errorf("check printed %d lines, want %d at most:\n%s", lines, limit, &out)
	}
}

// runCommand runs a command of practice, and ends the test if it fails.
func runCommand(t *testing.T, dir string, args ...string) (output string) {
	t.Helper()
	var out strings.Builder
	if err := run(t.Context(), dir, args, &out); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, &out)
	}
	return out.String()
}

// copyOf copies the workspace as it is now, including changes that are not committed. The copy uses
// the same cluster.
func copyOf(t *testing.T, root string) string {
	t.Helper()
	dir := t.TempDir()
	for name := range strings.Lines(value(git(root, "ls-files", "--cached", "--others", "--exclude-standard"))) {
		name = strings.TrimSpace(name)
		info, err := os.Stat(filepath.Join(root, name))
		if os.IsNotExist(err) {
			continue // deleted, and git does not know yet
		}
		must.Do(t, err)
		write(t, dir, name, string(value(os.ReadFile(filepath.Join(root, name)))))
		must.Do(t, os.Chmod(filepath.Join(dir, name), info.Mode()))
	}
	must.Do(t, os.Symlink(filepath.Join(root, ".cluster"), filepath.Join(dir, ".cluster")))
	value(git(dir, "init", "--quiet"))
	commit(t, dir)
	return dir
}

// value returns v. It panics if there is an error.
func value[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
