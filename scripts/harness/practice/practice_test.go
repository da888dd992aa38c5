// Tests of the commands, in a workspace with one small exercise.

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/workspace"
)

// toy makes a workspace with one exercise. Its path has a space in it.
func toy(t *testing.T) (root string) {
	t.Helper()
	setTestTimeout(t, time.Minute) // the machine may be busy
	root = filepath.Join(t.TempDir(), "my clone")
	must.Do(t, os.Mkdir(root, 0o700))
	for _, file := range value(txtar.ParseFile("testdata/toy.txtar")).Files {
		write(t, root, file.Name, string(file.Data))
	}
	value(git(root, "init", "--quiet"))
	commit(t, root)
	return root
}

// write writes a file below root.
func write(t *testing.T, root, name, text string) {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o700))
	must.Do(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o600))
}

// commit commits all files, as a reader would.
func commit(t *testing.T, root string) {
	t.Helper()
	for _, args := range [][]string{
		{"add", "--all", "--force"},
		{"-c", "user.name=reader", "-c", "user.email=reader@example.com", "commit", "--quiet", "--message", "mine"},
	} {
		_, err := git(root, args...)
		must.Do(t, err)
	}
}

const toyFile = "01-toy/toy.go"

// writeJoin writes a body for Join, where start has left a panic.
func writeJoin(t *testing.T, root, body string) {
	t.Helper()
	text := string(value(os.ReadFile(filepath.Join(root, toyFile))))
	before, after, found := strings.Cut(text, `panic("yours to write")`)
	if !found {
		t.Fatalf("nothing to write in\n%s", text)
	}
	write(t, root, toyFile, before+body+after)
}

// wantContains wants a text in the output of a command.
func wantContains(t *testing.T, command, output, text string) {
	t.Helper()
	if !strings.Contains(output, text) {
		t.Errorf("%s printed %q, want %q in it", command, output, text)
	}
}

func TestAnExerciseFromStartToEnd(t *testing.T) {
	root := toy(t)
	book := string(value(os.ReadFile(filepath.Join(root, toyFile))))
	started := runCommand(t, root, "start", "join")
	wantContains(t, "start", started, "Write `Join`.")
	if strings.Contains(started, "go test") {
		t.Errorf("start printed %q, want it without the check", started)
	}
	if err := workspace.Whole(root); err == nil || !strings.Contains(err.Error(), "exercises are open: join.") {
		t.Errorf("workspace.Whole() with an open exercise = %v, want an error that names it", err)
	}
	wantContains(t, "list", runCommand(t, root, "list"), "open    build join")
	for _, want := range []string{
		"Hint 1 of 3: One.\n",
		"Hint 2 of 3: Two, on two lines.\n",
		"Hint 3 of 3: Three.\n",
		"Hint 3 of 3: Three.\n",
	} {
		if got := runCommand(t, root, "hint", "join"); got != want {
			t.Errorf("hint printed %q, want %q", got, want)
		}
	}
	commit(t, root) // practice still knows the book's code
	writeJoin(t, root, `return parts[0] + "/" + parts[1]`)
	wantContains(t, "check", runCommand(t, root, "check"), "join: solved")
	list := runCommand(t, root, "list")
	wantContains(t, "list", list, "solved  build join")
	wantContains(t, "list", list, "1 of the 1")
	must.Do(t, workspace.Whole(root))

	commit(t, root)
	runCommand(t, root, "start", "join") // again, with the reader's code in the file
	writeJoin(t, root, `return parts[0] + "/b"`)
	const comment = "\n// A comment of mine.\n"
	write(t, root, toyFile, string(value(os.ReadFile(filepath.Join(root, toyFile))))+comment)
	solution := runCommand(t, root, "solution", "join")
	wantContains(t, "solution", solution, "+\treturn strings.Join(parts, ")
	wantContains(t, "solution", solution, "Because.")
	runCommand(t, root, "reset", "join")
	if got, want := string(value(os.ReadFile(filepath.Join(root, toyFile)))), book+comment; got != want {
		t.Errorf("after reset, %s is\n%s\nwant\n%s", toyFile, got, want)
	}
}

// setTestTimeout sets testTimeout until the end of the test.
func setTestTimeout(t *testing.T, timeout time.Duration) {
	old := testTimeout
	t.Cleanup(func() { testTimeout = old })
	testTimeout = timeout
}

// A check prints what is wrong with the reader's code, in a few lines.
func TestCheckPrintsWhatIsWrong(t *testing.T) {
	for name, test := range map[string]struct {
		body string // of Join
		want string
	}{
		"a wrong result": {body: `return "ab"`, want: `got "ab", want a/b`},
		"a panic": {
			body: `var p []string; return p[len(parts)]`,
			want: "TestJoin: panic: runtime error: index out of range [2] with length 0, in toy.Join (01-toy/toy.go:6)",
		},
		"a panic in a goroutine": {
			body: `done := make(chan string); go func() { panic("there") }(); return <-done`,
			want: "TestJoin: panic: there, in toy.Join.func1 (01-toy/toy.go:6)",
		},
		"a hang": {
			body: `select {}`,
			want: "TestJoin: panic: test timed out after 5s, in toy.Join (01-toy/toy.go:6)",
		},
		"a syntax error": {body: `return "`, want: "toy.go:6"},
		"a type error":   {body: `return undone`, want: "undefined: undone"},
	} {
		t.Run(name, func(t *testing.T) {
			root := toy(t)
			if name == "a hang" {
				setTestTimeout(t, 5*time.Second)
			}
			runCommand(t, root, "start", "join")
			writeJoin(t, root, test.body)
			var out strings.Builder
			if err := run(t.Context(), root, []string{"check"}, &out); err == nil {
				t.Error("check = nil, want an error")
			}
			wantContains(t, "check", out.String(), test.want)
			const limit = 8
			if lines := strings.Count(out.String(), "\n"); lines > limit {
				t.Errorf("check printed %d lines, want %d at most:\n%s", lines, limit, &out)
			}
		})
	}
}

// A check uses the book's tests and steps, even if the reader has changed them.
func TestChecksUseTheBooksTests(t *testing.T) {
	const test = "01-toy/toy_test.go"
	skipped := "package toy\nimport \"testing\"\nfunc TestJoin(t *testing.T) { t.Skip() }\n"
	exitingMain := "package toy\nimport (\"os\"; \"testing\")\nfunc TestMain(*testing.M) { os.Exit(0) }\n"
	exitingStep := "package toy\nimport \"os\"\nfunc init() { os.Exit(0) }\n"
	for name, change := range map[string]func(t *testing.T, root string){
		"the test is deleted": func(t *testing.T, root string) { must.Do(t, os.Remove(filepath.Join(root, test))) },
		"the test is skipped": func(t *testing.T, root string) { write(t, root, test, skipped) },
		"TestMain exits":      func(t *testing.T, root string) { write(t, root, "01-toy/main_test.go", exitingMain) },
		"a step exits":        func(t *testing.T, root string) { write(t, root, "01-toy/step_end.go", exitingStep) },
	} {
		for _, committed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, committed %t", name, committed), func(t *testing.T) {
				root := toy(t)
				runCommand(t, root, "start", "join")
				writeJoin(t, root, `return "ab"`)
				change(t, root)
				if committed {
					commit(t, root)
				}
				wantUnsolved(t, root, exercise{name: "join"}, "want a/b")
			})
		}
	}
	t.Run("the test is deleted before the start", func(t *testing.T) {
		root := toy(t)
		write(t, root, test, "package toy\n")
		commit(t, root)
		runCommand(t, root, "start", "join")
		writeJoin(t, root, `return "ab"`)
		wantUnsolved(t, root, exercise{name: "join"}, "TestJoin did not run")
	})
}

// wantRefused runs a command, and wants an error with this text.
func wantRefused(t *testing.T, root string, args []string, text string) {
	t.Helper()
	err := run(t.Context(), root, args, &strings.Builder{})
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("run(%q) = %v, want an error with %q", args, err, text)
	}
}

func TestRefusals(t *testing.T) {
	root := toy(t)
	wantRefused(t, root, []string{"check", "join"}, "not started; the book's code passes")
	write(t, root, toyFile, "package toy\n")
	for text, args := range map[string][]string{
		"usage:":                             {},
		"no such command":                    {"begin", "join"},
		"no exercise is called unicorn":      {"start", "unicorn"},
		"no exercise is open":                {"check"},
		"was not started":                    {"solution", "join"},
		"has changes that are not committed": {"start", "join"},
	} {
		wantRefused(t, root, args, text)
	}
	commit(t, root)
	wantRefused(t, root, []string{"start", "join"}, "it has no function Join")
}
