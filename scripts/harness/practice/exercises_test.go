// Tests of the exercises of the course.

package main

import (
	"flag"
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/informer/scripts/harness/hunk"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/workspace"
)

var (
	allExercises = flag.Bool("all", false, "try all exercises, not only a few; some of them need a cluster")
	allAnswers   = flag.Bool("answers", false, "try all wrong answers of an exercise, not only the most tempting one")
)

// quickExercises are tried without -all. They need no cluster. The reader writes one of them, and
// fixes the other.
var quickExercises = []string{"put", "reconnect"}

// TestExercises tries the exercises with the code of the workspace. Directly after its start an
// exercise compiles, the first test that it names fails, and its check prints the text that the
// exercise names. The check fails with a wrong answer, and passes with the book's code.
func TestExercises(t *testing.T) {
	root := value(workspace.Root("."))
	all := value(load(root))
	if !*allExercises {
		all = filter(all, func(e exercise) bool { return slices.Contains(quickExercises, e.name) })
		if len(all) != len(quickExercises) {
			t.Errorf("found %d exercises, want those of quickExercises, %q", len(all), quickExercises)
		}
	}
	book := map[string]*bookChecker{}
	for _, e := range all {
		for _, cmd := range e.checks {
			if book[cmd.program] == nil {
				book[cmd.program] = &bookChecker{checker: checkerWith(t, root, nil), passed: map[string]bool{}}
			}
		}
	}
	for _, e := range all {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			tryExercise(t, root, e)
			for _, cmd := range e.checks {
				book[cmd.program].wantPass(t, cmd)
			}
		})
	}
}

// tryExercise tries the start and the wrong answers of an exercise. Each of them is compiled by itself.
func tryExercise(t *testing.T, root string, e exercise) {
	book := string(value(os.ReadFile(filepath.Join(root, e.file))))
	started, err := e.begin(book)
	must.NoError(t, err)
	wantFailure(t, root, e, "directly after the start", started, e.checks[0].names()[0], e.failsWith)
	wrong := e.wrong
	if !*allAnswers {
		wrong = wrong[:1]
	}
	for _, difference := range wrong {
		text, err := apply(book, difference)
		must.NoError(t, err)
		wantFailure(t, root, e, "wrong answer:\n"+difference, text, "", "")
	}
}

// wantFailure checks the exercise with this version of its file, and wants it to fail: with the test of
// this name first, and with these words in the output. Any test will do if the name is "".
func wantFailure(t *testing.T, root string, e exercise, what, version, name, words string) {
	t.Helper()
	c := checkerWith(t, root, map[string]string{e.file: version})
	failures, err := c.runAll(t.Context(), e.checks, 1)
	must.NoError(t, err)
	switch {
	case len(failures) == 0:
		t.Errorf("check passes, but should fail: %s", what)
		return
	case strings.HasPrefix(failures[0].name, "./"):
		t.Errorf("the code does not compile: %s\n%s", what, failures[0].text)
		return
	case name != "" && failures[0].name != name:
		t.Errorf("%s passes, but is the first test of the exercise, and should fail: %s", name, what)
	}
	if !strings.Contains(failures[0].text, words) { // another test may print it
		failures, err = c.runAll(t.Context(), e.checks, 0)
		must.NoError(t, err)
	}
	if !slices.ContainsFunc(failures, func(f failure) bool { return strings.Contains(f.text, words) }) {
		t.Errorf("%s: check printed\n%v\nwant %q in it", what, failures, words)
	}
}

// checkerWith returns a checker with some files replaced. What it builds is removed at the end.
func checkerWith(t *testing.T, root string, files map[string]string) *checker {
	t.Helper()
	dir := t.TempDir()
	overlay, err := hunk.Overlay(root, dir, files)
	must.NoError(t, err)
	c := newChecker(root, dir, overlay, &strings.Builder{})
	c.patience = time.Minute // the machine may be busy
	return c
}

// A bookChecker runs the tests and steps of a package with the book's code: each once, though several
// exercises name it.
type bookChecker struct {
	mu      sync.Mutex
	checker *checker
	passed  map[string]bool // by the names of tests and commands
}

func (b *bookChecker) wantPass(t *testing.T, cmd command) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	key := func(name string) string { return fmt.Sprintf("%s, race %t", name, cmd.race) }
	cmd.tests = slices.DeleteFunc(slices.Clone(cmd.tests), func(name string) bool { return b.passed[key(name)] })
	if b.passed[key(cmd.line)] || cmd.args == nil && !cmd.whole && len(cmd.tests) == 0 {
		return
	}
	failures, err := b.checker.runAll(t.Context(), []command{cmd}, 0)
	must.NoError(t, err)
	for _, f := range failures {
		t.Errorf("with the book's code, %s fails:\n%s", f.name, f.text)
	}
	for _, name := range append(cmd.names(), cmd.line) {
		b.passed[key(name)] = len(failures) == 0
	}
}

var testFunction = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)

// Each exercise has a name of its own, its tests and its transcripts exist, and its start is formatted
// code in which each function that is to be written is missing, and all others are as they were.
func TestExercisesAreComplete(t *testing.T) {
	root := value(workspace.Root("."))
	seen := map[string]bool{}
	for _, e := range value(load(root)) {
		if seen[e.name] {
			t.Errorf("two exercises are called %s", e.name)
		}
		seen[e.name] = true
		for _, cmd := range e.checks {
			wantThere(t, root, e, cmd)
		}
		text, err := os.ReadFile(filepath.Join(root, e.file))
		if err != nil {
			t.Errorf("%s: %v", e.name, err)
			continue
		}
		book := string(text)
		started, err := e.begin(book)
		if err != nil {
			t.Errorf("%s: %v", e.name, err)
			continue
		}
		wantOnlyTheStart(t, e, book, started)
		for i, wrong := range e.wrong {
			if _, err := apply(book, wrong); err != nil {
				t.Errorf("%s: wrong answer %d: %v", e.name, i+1, err)
			}
		}
	}
}

// wantOnlyTheStart wants the functions of an exercise to write to be empty or dropped, and all others to
// be the book's. A bug may be anywhere.
func wantOnlyTheStart(t *testing.T, e exercise, book, started string) {
	t.Helper()
	if string(value(format.Source([]byte(started)))) != started {
		t.Errorf("%s: the start is not formatted", e.name)
	}
	if e.kind == fix {
		if started == book {
			t.Errorf("%s: the start is the book's code", e.name)
		}
		return
	}
	now := map[string]string{}
	for _, f := range findFunctions(started) {
		now[f.name] = started[f.begin:f.end]
	}
	for _, f := range findFunctions(book) {
		want := book[f.begin:f.end]
		switch {
		case slices.Contains(e.drop, f.name):
			want = ""
		case slices.Contains(e.empty, f.name):
			want = book[f.begin:f.body] + toWrite
		}
		if now[f.name] != want {
			t.Errorf("%s: after the start, %s is %q, want %q", e.name, f.name, now[f.name], want)
		}
	}
}

// wantThere wants the tests of a command, or the transcript of its step.
func wantThere(t *testing.T, root string, e exercise, cmd command) {
	t.Helper()
	folder := filepath.Join(root, cmd.program)
	if cmd.args != nil {
		if _, err := os.Stat(filepath.Join(folder, "testdata", cmd.args[0]+".txt")); err != nil {
			t.Errorf("%s: %s: %v", e.name, cmd.line, err)
		}
		return
	}
	there := map[string]bool{}
	for _, file := range value(filepath.Glob(filepath.Join(folder, "*_test.go"))) {
		for _, match := range testFunction.FindAllStringSubmatch(string(value(os.ReadFile(file))), -1) {
			there[match[1]] = true
		}
	}
	for _, name := range cmd.tests {
		name, _, _ = strings.Cut(name, "/")
		if !there[name] {
			t.Errorf("%s: %s has no %s", e.name, cmd.program, name)
		}
	}
}

// value returns v. It panics if there is an error.
func value[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
