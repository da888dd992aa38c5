package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/workspace"
)

// toy makes a workspace with one exercise.
func toy(t *testing.T) (root string) {
	setHang(t, time.Minute) // the machine may be busy
	root = filepath.Join(t.TempDir(), "my clone")
	must.Do(t, os.Mkdir(root, 0o700))
	for _, file := range value(txtar.ParseFile("testdata/toy.txtar")).Files {
		write(t, root, file.Name, string(file.Data))
	}
	value(git(root, "init", "--quiet"))
	commit(t, root)
	return root
}

func write(t *testing.T, root, name, text string) {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o700))
	must.Do(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o600))
}

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

// writeJoin writes a body for Join, as a reader would.
func writeJoin(t *testing.T, root, body string) {
	t.Helper()
	text := string(value(os.ReadFile(filepath.Join(root, toyFile))))
	before, after, found := strings.Cut(text, `panic("yours to write")`)
	if !found {
		t.Fatalf("nothing to write in\n%s", text)
	}
	write(t, root, toyFile, before+body+after)
}

func TestAnExerciseFromStartToEnd(t *testing.T) {
	root := toy(t)
	book := string(value(os.ReadFile(filepath.Join(root, toyFile))))
	out := command(t, root, "start", "join")
	expect.That(t, strings.Contains(out, "Write `Join`.") && !strings.Contains(out, "go test"), "start says %q", out)
	if err := workspace.Whole(root); err == nil || !strings.Contains(err.Error(), "exercises are open: join.") {
		t.Errorf("with an open exercise the workspace is whole: %v", err)
	}
	open := command(t, root, "list")
	expect.That(t, strings.Contains(open, "open    build join"), "list says %q", open)
	for _, want := range []string{"1 of 3: One.", "2 of 3: Two, on two lines.", "3 of 3: Three.", "3 of 3: Three."} {
		got := command(t, root, "hint", "join")
		expect.That(t, got == "Hint "+want+"\n", "got %q, want %q", got, want)
	}
	commit(t, root) // the book's code is still known
	writeJoin(t, root, `return parts[0] + "/" + parts[1]`)
	out = command(t, root, "check")
	expect.That(t, strings.Contains(out, "join: solved"), "check says %q", out)
	done := command(t, root, "list")
	expect.That(t, strings.Contains(done, "solved  build join") && strings.Contains(done, "1 of the 1"),
		"list says %q", done)
	must.Do(t, workspace.Whole(root))
	commit(t, root)
	command(t, root, "start", "join") // once more, where code of the reader's stands now
	writeJoin(t, root, `return parts[0] + "/b"`)
	write(t, root, toyFile, string(value(os.ReadFile(filepath.Join(root, toyFile))))+"\n// A comment of mine.\n")
	out = command(t, root, "solution", "join")
	expect.That(t, strings.Contains(out, "+\treturn strings.Join(parts, ") && strings.Contains(out, "Because."),
		"solution says %q", out)
	command(t, root, "reset", "join")
	if got := value(os.ReadFile(filepath.Join(root, toyFile))); string(got) != book+"\n// A comment of mine.\n" {
		t.Errorf("after reset:\n%s", got)
	}
}

// setHang sets how long the tests of a command may take, until the end of the test.
func setHang(t *testing.T, limit time.Duration) {
	before := hang
	t.Cleanup(func() { hang = before })
	hang = limit
}

func TestWhatACheckSays(t *testing.T) {
	for body, want := range map[string]string{
		`return "ab"`: `got "ab", want a/b`,
		`var p []string; return p[len(parts)]`: "TestJoin: panic: runtime error: index out of range [2] " +
			"with length 0, in toy.Join (01-toy/toy.go:6)",
		`done := make(chan string); go func() { panic("there") }(); return <-done`: "TestJoin: panic: there, " +
			"in toy.Join.func1 (01-toy/toy.go:6)",
		`select {}`:     "TestJoin: panic: test timed out after 5s, in toy.Join (01-toy/toy.go:6)",
		`return "`:      "toy.go:6",
		`return undone`: "undefined: undone",
	} {
		root := toy(t)
		if body == `select {}` {
			setHang(t, 5*time.Second)
		}
		command(t, root, "start", "join")
		writeJoin(t, root, body)
		var out strings.Builder
		if err := run(t.Context(), root, []string{"check"}, &out); err == nil || !strings.Contains(out.String(), want) {
			t.Errorf("%s: %v, want %q in\n%s", body, err, want, &out)
		}
		expect.That(t, strings.Count(out.String(), "\n") <= 8, "%s: too much to read:\n%s", body, &out)
	}
}

func TestChecksUseTheBooksTests(t *testing.T) {
	const test = "01-toy/toy_test.go"
	for what, change := range map[string]func(root string) error{
		"deleted": func(root string) error { return os.Remove(filepath.Join(root, test)) },
		"skipped": func(root string) error {
			return os.WriteFile(filepath.Join(root, test),
				[]byte("package toy\nimport \"testing\"\nfunc TestJoin(t *testing.T) { t.Skip() }\n"), 0o600)
		},
		"ended by another": func(root string) error {
			return os.WriteFile(filepath.Join(root, "01-toy/main_test.go"),
				[]byte("package toy\nimport (\"os\"; \"testing\")\nfunc TestMain(*testing.M) { os.Exit(0) }\n"), 0o600)
		},
		"ended by a step": func(root string) error {
			return os.WriteFile(filepath.Join(root, "01-toy/step_end.go"),
				[]byte("package toy\nimport \"os\"\nfunc init() { os.Exit(0) }\n"), 0o600)
		},
	} {
		for _, committed := range []bool{false, true} {
			root := toy(t)
			command(t, root, "start", "join")
			writeJoin(t, root, `return "ab"`)
			must.Do(t, change(root))
			if committed {
				commit(t, root)
			}
			t.Logf("%s, committed %v", what, committed)
			wantUnsolved(t, root, exercise{name: "join"}, "want a/b")
		}
	}
	t.Run("before the start", func(t *testing.T) {
		root := toy(t)
		write(t, root, test, "package toy\n")
		commit(t, root)
		command(t, root, "start", "join")
		writeJoin(t, root, `return "ab"`)
		wantUnsolved(t, root, exercise{name: "join"}, "TestJoin did not run")
	})
}

func TestRefusals(t *testing.T) {
	root := toy(t)
	err := run(t.Context(), root, []string{"check", "join"}, &strings.Builder{})
	expect.That(t, err != nil && strings.Contains(err.Error(), "not started; the book's code passes"),
		"check before start: %v", err)
	write(t, root, toyFile, "package toy\n")
	for want, args := range map[string][]string{
		"usage:":                             {},
		"no such command":                    {"begin", "join"},
		"no exercise is called unicorn":      {"start", "unicorn"},
		"no exercise is open":                {"check"},
		"was not started":                    {"solution", "join"},
		"has changes that are not committed": {"start", "join"},
	} {
		if err := run(t.Context(), root, args, &strings.Builder{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", args, err, want)
		}
	}
	commit(t, root)
	err = run(t.Context(), root, []string{"start", "join"}, &strings.Builder{})
	expect.That(t, err != nil && strings.Contains(err.Error(), "it has no function Join"),
		"start in a file without the function: %v", err)
}
