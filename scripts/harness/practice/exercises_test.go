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

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/workspace"
)

var everyOne = flag.Bool("all", false, "try all exercises, not only a few; most of them need a cluster")

// few need no cluster, and one of them is fixed.
var few = []string{"put", "reconnect"}

// TestExercises goes through the exercises as a reader would, in a copy of the
// workspace. Right after its start an exercise compiles, and its check fails in
// words that belong to it. It still fails with each tempting answer, and passes
// with the book's code.
func TestExercises(t *testing.T) {
	setHang(t, time.Minute) // the machine may be busy
	root := value(workspace.Root("."))
	all := value(load(root))
	copies := make(chan string, max(1, runtime.GOMAXPROCS(0)))
	for range cap(copies) {
		copies <- copyOf(t, root)
	}
	seen := map[string]bool{}
	for _, e := range all {
		expect.That(t, !seen[e.name], "two exercises are called %s", e.name)
		seen[e.name] = true
		if !*everyOne && !slices.Contains(few, e.name) {
			continue
		}
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			dir := <-copies
			defer func() { copies <- dir }()
			tryExercise(t, dir, e)
		})
	}
	for _, name := range few {
		expect.That(t, seen[name], "no exercise is called %s any more: it was one of the few", name)
	}
}

func tryExercise(t *testing.T, dir string, e exercise) {
	file := filepath.Join(dir, e.file)
	book := value(os.ReadFile(file))
	defer func() { must.Do(t, os.WriteFile(file, book, 0o600)) }()

	command(t, dir, "start", e.name)
	vet := exec.CommandContext(t.Context(), "go", "vet", ".")
	vet.Dir = filepath.Dir(file)
	text, err := vet.CombinedOutput()
	expect.That(t, err == nil, "after start: go vet: %v\n%s", err, text)
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
	command(t, dir, "check", e.name)
	command(t, dir, "reset", e.name)
	text = value(os.ReadFile(file))
	expect.That(t, string(text) == string(book), "reset does not bring the book's code back, but\n%s", text)
}

var compilerSays = regexp.MustCompile(`\.go:\d+:\d+: `)

// wantUnsolved checks the code in dir, which is wrong.
func wantUnsolved(t *testing.T, dir string, e exercise, words string) {
	t.Helper()
	var out strings.Builder
	err := run(t.Context(), dir, []string{"check", e.name}, &out)
	expect.That(t, err != nil, "passes, but should not:\n%s", value(git(dir, "diff")))
	expect.That(t, !compilerSays.MatchString(out.String()), "does not compile:\n%s", &out)
	expect.That(t, strings.Contains(out.String(), words), "fails, but does not say %q:\n%s", words, &out)
	lines := strings.Count(out.String(), "\n")
	expect.That(t, lines <= 40, "%d lines to read:\n%s", lines, &out)
}

// command is one that works.
func command(t *testing.T, dir string, args ...string) string {
	t.Helper()
	var out strings.Builder
	if err := run(t.Context(), dir, args, &out); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, &out)
	}
	return out.String()
}

// copyOf is a clone of the workspace as it is now, changes that are not committed
// included. It shares the cluster.
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

func value[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
