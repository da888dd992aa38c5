// Tests of the exercises of the course.

package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/workspace"
)

var allExercises = flag.Bool("all", false, "try all exercises, not only a few; some of them need a cluster")

// quickExercises are tried without -all. They need no cluster. The reader writes one of them, and
// fixes the other.
var quickExercises = []string{"put", "reconnect"}

// TestExercises tries the exercises with the code of the workspace. Directly after its start an
// exercise compiles, the first test that it names fails, and its check prints the text that the
// exercise names. The check fails with each wrong answer, and passes with the book's code.
func TestExercises(t *testing.T) {
	root := value(workspace.Root("."))
	all := value(load(root))
	if !*allExercises {
		all = filter(all, func(e exercise) bool { return slices.Contains(quickExercises, e.name) })
		if len(all) != len(quickExercises) {
			t.Errorf("found %d exercises, want those of quickExercises, %q", len(all), quickExercises)
		}
	}
	for _, e := range all {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			tryExercise(t, root, e)
		})
	}
}

// tryExercise tries the start, the wrong answers and the right answer of an exercise.
func tryExercise(t *testing.T, root string, e exercise) {
	book := string(value(os.ReadFile(filepath.Join(root, e.file))))
	started, err := e.begin(book)
	must.NoError(t, err)
	versions := []string{started, book}
	for i, wrong := range e.wrong {
		text, err := apply(book, wrong)
		if err != nil {
			t.Fatalf("wrong answer %d: %v", i+1, err)
		}
		versions = append(versions, text)
	}
	b := newBench(t, root, e, book, versions)
	b.wantFailure("directly after the start", started, e.checks[0].names()[0], e.failsWith)
	for _, f := range b.try(book, 0) {
		t.Errorf("with the book's code, %s fails:\n%s", f.name, f.text)
	}
	for i, wrong := range e.wrong {
		b.wantFailure("wrong answer:\n"+wrong, versions[i+2], "", "")
	}
}

// An exercise without enough wrong answers is refused when it is loaded.
func TestAnExerciseHasWrongAnswers(t *testing.T) {
	for kind, least := range map[string]int{write: 3, fix: 2} {
		e := exercise{kind: kind, checks: []command{{}}, plant: "-a", failsWith: "a", why: "a", minutes: "5"}
		e.hints, e.wrong = []string{"1", "2", "3"}, make([]string, least)
		must.NoError(t, e.validate())
		e.wrong = e.wrong[1:]
		want := fmt.Sprintf("want at least %d", least)
		if err := e.validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("validate() of an exercise to %s with %d wrong answers = %v, want %q in it",
				kind, least-1, err, want)
		}
	}
}

var testFunction = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)

// Each exercise has a name of its own, its tests and its transcripts exist, and its start and its
// reset change only what they should.
func TestExercisesAreComplete(t *testing.T) {
	root := value(workspace.Root("."))
	seen := map[string]bool{}
	for _, e := range value(load(root)) {
		if seen[e.name] {
			t.Errorf("two exercises are called %s", e.name)
		}
		seen[e.name] = true
		if e.page == "" {
			t.Errorf("%s: no page of the book leads to it", e.name)
		}
		for _, cmd := range e.checks {
			wantThere(t, root, e, cmd)
		}
		book := string(value(os.ReadFile(filepath.Join(root, e.file))))
		started, err := e.begin(book)
		if err != nil {
			t.Errorf("%s: %v", e.name, err)
			continue
		}
		names := changedNames(book, started)
		if got := transplant(book, started, names); got != started {
			t.Errorf("%s: the start makes\n%s\nwant\n%s", e.name, got, started)
		}
		if got := transplant(started, book, names); got != book {
			t.Errorf("%s: the reset makes\n%s\nwant the book's code\n%s", e.name, got, book)
		}
		for i, wrong := range e.wrong {
			if _, err := apply(book, wrong); err != nil {
				t.Errorf("%s: wrong answer %d: %v", e.name, i+1, err)
			}
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
