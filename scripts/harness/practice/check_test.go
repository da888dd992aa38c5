// Tests of what a check prints, and of what it runs.

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/informer/scripts/harness/must"
)

// A check prints what is wrong with the reader's code, in a few lines.
func TestCheckPrintsWhatIsWrong(t *testing.T) {
	for name, test := range map[string]struct {
		body string // of Join
		want string
	}{
		"a wrong result": {body: `return "ab"`, want: `got "ab", want a/b`},
		"a panic": {
			body: `var p []string; return p[len(parts)]`,
			want: "panic: runtime error: index out of range [2] with length 0, " +
				"in toy.Join (.practice/NAME/01-toy/toy.go:8)",
		},
		"a panic in a goroutine": {
			body: `done := make(chan string); go func() { panic("there") }(); return <-done`,
			want: "panic: there, in toy.Join.func1 (.practice/NAME/01-toy/toy.go:8)",
		},
		"a hang": {
			body: `select {}`,
			want: "panic: test timed out after 5s, in toy.Join (.practice/NAME/01-toy/toy.go:8)",
		},
		"a loop that prints": {
			body: `for { println("again") }`,
			want: "it was ended, because it printed more than 4096 KiB",
		},
		"a syntax error": {body: `return "`, want: "toy.go:8"},
		"a type error":   {body: `return undone`, want: "undefined: undone"},
	} {
		t.Run(name, func(t *testing.T) {
			root := toy(t)
			if name == "a hang" {
				setTestPatience(t, 5*time.Second)
			}
			runCommand(t, root, "start", "join")
			writeJoin(t, root, test.body)
			output := wantUnsolved(t, root, "join", strings.ReplaceAll(test.want, "NAME", "join"))
			const limit = 8
			if lines := strings.Count(output, "\n"); lines > limit {
				t.Errorf("check printed %d lines, want %d at most:\n%s", lines, limit, output)
			}
		})
	}
}

// A check prints all failures, even if a test panics: those of its other subtests, and those of
// other tests.
func TestCheckPrintsAllFailures(t *testing.T) {
	root := toy(t)
	runCommand(t, root, "start", "count")
	change(t, in(root, "count"), `return strings.Count(joined, "/")`, `n := strings.Count(joined, "/")
	if n == 1 {
		panic("one")
	}
	return n`)
	wantUnsolved(t, root, "count", "one:\n", "got 0, want 1",
		"panic: one, in toy.Count (.practice/count/01-toy/toy.go:18)",
		"three:\n", "got 2, want 3", "FAIL  TestJoin")
}

// All other tests of the package belong to a check, too. It runs them if those that the exercise
// names have passed, and prints the ones that fail.
func TestCheckRunsTheWholePackage(t *testing.T) {
	const page = "01-toy/practice/join.md"
	root := toy(t)
	text := string(value(os.ReadFile(filepath.Join(root, page))))
	writeFile(t, root, page, strings.Replace(text, "^TestJoin$'\n", "^TestJoin$'\ngo test -short ./01-toy\n", 1))
	writeFile(t, root, "01-toy/more_test.go", `package toy

import "testing"

func TestJoinOfOne(t *testing.T) {
	if got := Join("a"); got != "a" {
		t.Errorf("Join of one part = %q, want a", got)
	}
}

func TestJoinOfNone(t *testing.T) {
	if got := Join(); got != "" {
		t.Errorf("Join of no part = %q, want nothing", got)
	}
}
`)
	commit(t, root)
	runCommand(t, root, "start", "join")
	writeJoin(t, root, `return "a" + "b"`)
	if output := wantUnsolved(t, root, "join", "FAIL  TestJoin\n"); strings.Contains(output, "TestJoinOf") {
		t.Errorf("check printed\n%s\nwant only the test that the exercise names", output)
	}
	change(t, in(root, "join"), `return "a" + "b"`, `return parts[0] + "/" + parts[1]`)
	wantUnsolved(t, root, "join", "ok    TestJoin\n", "FAIL  TestJoinOfOne\n", "FAIL  TestJoinOfNone\n",
		"panic: runtime error: index out of range [0] with length 0, in toy.Join (.practice/join/01-toy/toy.go:8)")
	change(t, in(root, "join"), `return parts[0] + "/" + parts[1]`, `return strings.Join(parts, "/")`)
	output := runCommand(t, root, "check", "join")
	wantContains(t, "check", output, "ok    go test -short ./01-toy\n", "join: solved.")
}

// The compiler's errors name the files in the folder of the exercise, even if a check replaces a test.
func TestErrorsNameTheReadersFile(t *testing.T) {
	root := toy(t)
	runCommand(t, root, "start", "join")
	writeJoin(t, root, "\n\treturn undone")
	wantUnsolved(t, root, "join", "        .practice/join/01-toy/toy.go:9:9: undefined: undone")
	change(t, in(root, "join"), "func Join(parts ...string)", "func Join(a, b, c string)")
	change(t, in(root, "join"), "return undone", `return a + "/" + b`)
	wantUnsolved(t, root, "join", "        .practice/join/01-toy/toy_test.go:6:")
	writeFile(t, in(root, "join"), "01-toy/toy_test.go", "package toy\n")
	wantUnsolved(t, root, "join", "        .practice/join/01-toy/toy_test.go:6:")
}

// Each subtest has its own messages, even if they are those of another one. A panic, after which the
// others run again, does not print them twice.
func TestCheckPrintsEqualLines(t *testing.T) {
	root := toy(t)
	writeFile(t, root, "01-toy/toy_test.go", equalLines)
	commit(t, root)
	runCommand(t, root, "start", "join")
	writeJoin(t, root, `if parts[0] == "b" { panic("b") }; return ""`)
	output := wantUnsolved(t, root, "join", "panic: b, in toy.Join")
	for _, name := range []string{"a:", "c:", "d:"} {
		want := name + "\n    toy_test.go:9: client-go:\n            same\n" +
			"        ours:\n            same\n            more"
		want = strings.ReplaceAll(want, "\n", "\n        ") // as check prints it
		if got := strings.Count(output, want); got != 1 {
			t.Errorf("check printed %d times what is wrong with %s want 1, in\n%s", got, name, output)
		}
	}
}

const equalLines = `package toy

import "testing"

func TestJoin(t *testing.T) {
	for _, name := range []string{"a", "b", "c", "d"} {
		t.Run(name, func(t *testing.T) {
			if got := Join(name); got != name {
				t.Errorf("client-go:\n    same\nours:\n    same\n    more")
			}
		})
	}
}
`

// A check uses the book's tests and steps, even if the reader has changed them.
func TestChecksUseTheBooksTests(t *testing.T) {
	const test = "01-toy/toy_test.go"
	skipped := "package toy\nimport \"testing\"\nfunc TestJoin(t *testing.T) { t.Skip() }\n"
	exitingMain := "package toy\nimport (\"os\"; \"testing\")\nfunc TestMain(*testing.M) { os.Exit(0) }\n"
	exitingStep := "package toy\nimport \"os\"\nfunc init() { os.Exit(0) }\n"
	for name, change := range map[string]struct{ file, text string }{
		"the test is deleted":                     {file: test, text: "package toy\n"},
		"the test is skipped":                     {file: test, text: skipped},
		"TestMain exits":                          {file: "01-toy/main_test.go", text: exitingMain},
		"in a file with a name that is not ASCII": {file: "01-toy/größe_test.go", text: exitingMain},
		"a step exits":                            {file: "01-toy/step_end.go", text: exitingStep},
	} {
		for _, committed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, committed %t", name, committed), func(t *testing.T) {
				root := toy(t)
				runCommand(t, root, "start", "join")
				writeJoin(t, root, `return "ab"`)
				writeFile(t, in(root, "join"), change.file, change.text)
				if committed {
					commit(t, in(root, "join"))
				}
				wantUnsolved(t, root, "join", "want a/b")
			})
		}
	}
	t.Run("the test is deleted before the start", func(t *testing.T) {
		root := toy(t)
		writeFile(t, root, test, "package toy\n")
		commit(t, root)
		runCommand(t, root, "start", "join")
		writeJoin(t, root, `return "ab"`)
		wantUnsolved(t, root, "join", "TestJoin did not run")
	})
}

// writeJoin writes the body of Join, where start has left a hole.
func writeJoin(t *testing.T, root, body string) {
	t.Helper()
	change(t, in(root, "join"), hole, body)
}

func TestParseCommand(t *testing.T) {
	for line, want := range map[string][]string{
		"go test ./06-processor -run '^TestA$'":               {"TestA"},
		"go test -race ./06-processor -run '^(TestA|FuzzB)$'": {"TestA", "FuzzB"},
		"go test ./06-processor -run '^TestA$/^late$'":        {"TestA/late"},
		"go test ./06-processor -run '^TestA$/^(late|one)$'":  {"TestA/late", "TestA/one"},
		"go test -short ./06-processor":                       {"go test -short ./06-processor"},
		"go run ./06-processor late -check":                   {"go run ./06-processor late -check"},
	} {
		cmd, err := parseCommand(line)
		if got := cmd.names(); err != nil || cmd.program != "./06-processor" || !slices.Equal(got, want) {
			t.Errorf("parseCommand(%q) = %s, %q, %v; want %q", line, cmd.program, got, err, want)
		}
	}
	if _, err := parseCommand("go test ./06-processor"); err == nil {
		t.Error("parseCommand() of a command without names of tests = nil, want an error")
	}
}

// A lockedOutput can be read while somebody writes to it.
type lockedOutput struct {
	mu   sync.Mutex
	text strings.Builder
}

func (o *lockedOutput) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *lockedOutput) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// Watch checks whenever the reader saves, and goes on to the next exercise.
func TestWatchGoesOn(t *testing.T) {
	root := toy(t)
	var out lockedOutput
	stop := must.Run(t, func(ctx context.Context) {
		if err := run(ctx, root, []string{"watch"}, &out); err != nil {
			t.Errorf("watch: %v", err)
		}
	})
	defer stop()
	contains := func(text string) func() bool {
		return func() bool { return strings.Contains(out.String(), text) }
	}
	must.Until(t, "join is open", contains("Write `Join`"))
	must.Until(t, "the hole is there", func() bool {
		text, err := os.ReadFile(filepath.Join(in(root, "join"), toyFile))
		return err == nil && strings.Contains(string(text), hole)
	})
	writeJoin(t, root, `return "ab"`)
	must.Until(t, "the wrong code is checked", contains(`got "ab", want a/b`))
	change(t, in(root, "join"), `"ab"`, `parts[0] + "/" + parts[1]`)
	must.Until(t, "join is solved", contains("join: solved"))
	must.Until(t, "the next one is open", contains(`"There is something at the end"`))
}
