// Tests of the commands, in a workspace with a few small exercises.

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/workspace"
)

// toy makes a workspace with three exercises. Its path has a space in it.
func toy(t *testing.T) (root string) {
	t.Helper()
	setTestPatience(t, time.Minute) // the machine may be busy
	root = filepath.Join(t.TempDir(), "my clone")
	must.NoError(t, os.Mkdir(root, 0o700))
	for _, file := range value(txtar.ParseFile("testdata/toy.txtar")).Files {
		writeFile(t, root, file.Name, string(file.Data))
	}
	value(git(root, "init", "--quiet", "--initial-branch=main"))
	identify(t, root, "author")
	commit(t, root)
	identify(t, root, "reader")
	return root
}

// identify sets who commits in a workspace.
func identify(t *testing.T, root, name string) {
	t.Helper()
	for key, value := range map[string]string{"user.name": name, "user.email": name + "@example.com"} {
		_, err := git(root, "config", "--local", key, value)
		must.NoError(t, err)
	}
}

// setTestPatience sets testPatience until the end of the test.
func setTestPatience(t *testing.T, patience time.Duration) {
	old := testPatience
	t.Cleanup(func() { testPatience = old })
	testPatience = patience
}

// writeFile writes a file below root.
func writeFile(t *testing.T, root, name, text string) {
	t.Helper()
	must.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o700))
	must.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o600))
}

// commit commits all files, as a reader would.
func commit(t *testing.T, root string) {
	t.Helper()
	for _, args := range [][]string{{"add", "--all", "--force"}, {"commit", "--quiet", "--message", "mine"}} {
		_, err := git(root, args...)
		must.NoError(t, err)
	}
}

const toyFile = "01-toy/toy.go"

// toyText returns the text of the toy's file.
func toyText(root string) string { return string(value(os.ReadFile(filepath.Join(root, toyFile)))) }

// change replaces a text in the toy's file.
func change(t *testing.T, root, from, to string) {
	t.Helper()
	before, after, found := strings.Cut(toyText(root), from)
	if !found {
		t.Fatalf("there is no %q in\n%s", from, toyText(root))
	}
	writeFile(t, root, toyFile, before+to+after)
}

const hole = `panic("yours to write")` // what start leaves of a body

// runCommand runs a command of practice, and ends the test if it fails.
func runCommand(t *testing.T, dir string, args ...string) (output string) {
	t.Helper()
	var out strings.Builder
	if err := run(t.Context(), dir, args, &out); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, &out)
	}
	return out.String()
}

// wantContains wants texts in the output of a command.
func wantContains(t *testing.T, command, output string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(output, text) {
			t.Errorf("%s printed\n%s\nwant %q in it", command, output, text)
		}
	}
}

// wantUnsolved checks an exercise, and wants that it is not solved, with these texts in the output.
func wantUnsolved(t *testing.T, root, name string, texts ...string) (output string) {
	t.Helper()
	var out strings.Builder
	if err := run(t.Context(), root, []string{"check", name}, &out); err == nil {
		t.Errorf("check %s = nil, want an error", name)
	}
	wantContains(t, "check "+name, out.String(), texts...)
	return out.String()
}

// wantRefused runs a command, and wants an error with this text.
func wantRefused(t *testing.T, root string, args []string, text string) {
	t.Helper()
	err := run(t.Context(), root, args, &strings.Builder{})
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("run(%q) = %v, want an error with %q", args, err, text)
	}
}

func TestAnExerciseFromStartToEnd(t *testing.T) {
	root := toy(t)
	book := toyText(root)
	wantContains(t, "nothing", runCommand(t, root),
		"01-toy                0 of  3  ...", "Next: join (write, about 5 minutes, easy)")
	started := runCommand(t, root, "next")
	wantContains(t, "next", started, "Write `Join`, as the page (docs/01-toy.md) says.", "01-toy/toy.go:8 (Join)")
	if strings.Contains(started, "go test") {
		t.Errorf("next printed %q, want it without the check", started)
	}
	err := workspace.CheckNoExerciseIsOpen(root)
	if err == nil || !strings.Contains(err.Error(), "exercises are open: join.") {
		t.Errorf("workspace.CheckNoExerciseIsOpen() with an open exercise = %v, want an error that names it", err)
	}
	wantContains(t, "list", runCommand(t, root, "list"), "open   write join")
	wantContains(t, "list -json", runCommand(t, root, "list", "-json"),
		`[{"name":"join","page":"01-toy/practice/join.md","kind":"write","state":"open",`+
			`"places":[{"file":"01-toy/toy.go","line":8,"function":"Join"}]},`,
		`"kind":"fix","state":"","places":[{"file":"01-toy/toy.go"}]}`)
	wantContains(t, "nothing", runCommand(t, root), "Open: join", "01-toy/toy.go:8 (Join)")
	for _, want := range []string{
		"join, hint 1 of 3: One.\n",
		"join, hint 2 of 3: Two, on two lines.\n",
		"join, hint 3 of 3: Three.\n",
		"join, hint 3 of 3: Three.\n",
	} {
		if got := runCommand(t, root, "hint"); got != want {
			t.Errorf("hint printed %q, want %q", got, want)
		}
	}
	commit(t, root) // practice still knows the book's code
	change(t, root, hole, `return parts[0] + "/" + parts[1]`)
	wantContains(t, "check", runCommand(t, root, "check"),
		"ok    TestJoin", "join: solved. That makes 1 of 3.", "Next: tail (fix")
	list := runCommand(t, root, "list")
	wantContains(t, "list", list, "solved write join", "1 of the 1")
	must.NoError(t, workspace.CheckNoExerciseIsOpen(root))

	again := runCommand(t, root, "start", "join") // with the reader's code in the file
	wantContains(t, "a second start", again, "Your version of join is replaced, and kept", "mine join")
	change(t, root, hole, `return parts[0] + "/b"`)
	const comment = "\n// A comment of mine.\n"
	writeFile(t, root, toyFile, toyText(root)+comment)
	solution := runCommand(t, root, "solution")
	wantContains(t, "solution", solution, "+\treturn strings.Join(parts, ", "Because.")
	runCommand(t, root, "reset", "join")
	if got, want := toyText(root), book+comment; got != want {
		t.Errorf("after reset, %s is\n%s\nwant\n%s", toyFile, got, want)
	}
}

// What was solved once stays solved: after a reset, and after the exercise was started again.
func TestSolvedStaysSolved(t *testing.T) {
	root := toy(t)
	solution := func() { change(t, root, hole, `return parts[0] + "/" + parts[1]`) }
	wantSolved := func(when string) {
		t.Helper()
		wantContains(t, when, runCommand(t, root), "01-toy                1 of  3  #..")
		wantContains(t, "list "+when, runCommand(t, root, "list"), "1 of the 1")
	}
	runCommand(t, root, "start", "join")
	solution()
	runCommand(t, root, "check")
	wantContains(t, "reset", runCommand(t, root, "reset", "join"), "It stays solved.")
	wantSolved("after the reset")
	wantContains(t, "list", runCommand(t, root, "list"), "solved write join")
	wantContains(t, "list -json", runCommand(t, root, "list", "-json"), `"state":"","solved":true`)
	wantContains(t, "next", runCommand(t, root, "next"), "Fix the package.") // tail, and not join again
	runCommand(t, root, "reset", "tail")

	runCommand(t, root, "start", "join")
	wantSolved("after it was started again")
	wantContains(t, "list", runCommand(t, root, "list"), "open   write join")
	solution()
	change(t, root, `"/"`, `"-"`)
	wantUnsolved(t, root, "join", "want a/b")
	wantSolved("after a check that fails")
	runCommand(t, root, "reset", "01")
	wantSolved("after the reset of all")
	if got := bookCommit(root); got != "HEAD" {
		t.Errorf("no exercise has changed the code, and the book's is that of %s, want HEAD", got)
	}
}

func TestTheOrderIsTheBooks(t *testing.T) {
	var names []string
	for _, e := range value(load(toy(t))) {
		names = append(names, e.name)
	}
	if got, want := strings.Join(names, " "), "join tail count"; got != want {
		t.Errorf("the exercises are %q, want %q", got, want)
	}
}

// A fix leads to the section that explains it, when it is solved.
func TestAfterAFixThereIsSomethingToRead(t *testing.T) {
	root := toy(t)
	started := runCommand(t, root, "start", "count")
	if strings.Contains(started, "docs/01-toy.md") {
		t.Errorf("start printed %q, want no page", started)
	}
	change(t, root, `"/")`, `"/") + 1`)
	wantContains(t, "check", runCommand(t, root, "check"), "docs/01-toy.md:7 explains it")

	// No page shows Join. Then it is the section that leads to the exercise.
	page := string(value(os.ReadFile(filepath.Join(root, "docs/01-toy.md"))))
	page = strings.Replace(page, "<!-- code 01-toy/toy.go Join separator -->", "", 1)
	writeFile(t, root, "docs/01-toy.md", page)
	runCommand(t, root, "start", "tail")
	change(t, root, " + separator()", "")
	wantContains(t, "check", runCommand(t, root, "check"), "docs/01-toy.md:7 explains it")
}

func TestRefusals(t *testing.T) {
	root := toy(t)
	for text, args := range map[string][]string{
		"no such command": {"begin", "join"},
		"strat: no such command: did you mean start?\nusage": {"strat", "join"},
		"no exercise is called jion: did you mean join?\n":   {"start", "jion"},
		"no exercise is called unicorn":                      {"start", "unicorn"},
		"no exercise is open":                                {"check"},
		"was not started":                                    {"solution", "join"},
		"join is not started":                                {"check", "join"},
		"tail is not started":                                {"watch", "tail"},
		"NAME of an exercise is missing":                     {"start"},
		"no version of yours is kept":                        {"mine", "join"},
		"too many arguments":                                 {"start", "join", "tail"},
	} {
		wantRefused(t, root, args, text)
	}
	wantContains(t, "reset", runCommand(t, root, "reset", "join"), "was not started", "nothing has changed")
	wantContains(t, "help", runCommand(t, root, "help"), "usage:")

	runCommand(t, root, "start", "join")
	wantContains(t, "a second start", runCommand(t, root, "start", "join"),
		"open already, and nothing has changed", "Write `Join`")
	wantRefused(t, root, []string{"start", "tail"}, "where join is open")

	writeFile(t, root, toyFile, "package toy\n")
	commit(t, root)
	value(git(root, "update-ref", "-d", bookName))
	value(git(root, "update-ref", "-d", "refs/practice/open/join"))
	wantRefused(t, root, []string{"start", "join"}, "it has no function Join")
}

// After a pull, the book's code and tests are those that came with it. What the reader has
// committed is never the book's.
func TestAfterAPullTheTestsAreNew(t *testing.T) {
	origin := toy(t)
	root := filepath.Join(t.TempDir(), "clone")
	value(git(origin, "clone", "--quiet", origin, root))
	identify(t, root, "reader")
	runCommand(t, root, "start", "join")
	change(t, root, hole, `return parts[0] + "/" + parts[1]`)
	commit(t, root)
	runCommand(t, root, "check")

	identify(t, origin, "author")
	test := string(value(os.ReadFile(filepath.Join(origin, "01-toy/toy_test.go"))))
	const more = "{\n\tif got := Join(\"a\"); got != \"a\" {\n\t\tt.Errorf(\"got %q, want a\", got)\n\t}\n"
	test = strings.Replace(test, "{\n", more, 1)
	writeFile(t, origin, "01-toy/toy_test.go", test)
	commit(t, origin)
	value(git(root, "pull", "--quiet", "--no-rebase", "--no-edit"))
	wantUnsolved(t, root, "join", "index out of range [1]")
	wantContains(t, "solution", runCommand(t, root, "solution", "join"), "+\treturn strings.Join(parts, ")
}
