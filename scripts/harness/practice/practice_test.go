// Tests of the commands, in a workspace with a few small exercises.

package main

import (
	"os"
	"os/exec"
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
	byReader(t, root, "init", "--quiet", "--initial-branch=main")
	identify(t, root, "author")
	commit(t, root)
	identify(t, root, "reader")
	return root
}

// byReader runs a git command as the reader would, and returns its output.
func byReader(t *testing.T, dir string, args ...string) (output string) {
	t.Helper()
	command := exec.Command("git", args...) // a cleanup may call it, too
	command.Dir = dir
	text, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, text)
	}
	return string(text)
}

// identify sets who commits in a workspace.
func identify(t *testing.T, root, name string) {
	t.Helper()
	byReader(t, root, "config", "--local", "user.name", name)
	byReader(t, root, "config", "--local", "user.email", name+"@example.com")
}

// setTestPatience sets testPatience until the end of the test.
func setTestPatience(t *testing.T, patience time.Duration) {
	old := testPatience
	t.Cleanup(func() { testPatience = old })
	testPatience = patience
}

func writeFile(t *testing.T, root, name, text string) {
	t.Helper()
	must.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o700))
	must.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o600))
}

// commit commits all files, as a reader would.
func commit(t *testing.T, root string) {
	t.Helper()
	byReader(t, root, "add", "--all")
	byReader(t, root, "commit", "--quiet", "--message", "mine")
}

// in returns the folder of an exercise.
func in(root, name string) string { return filepath.Join(root, ".practice", name) }

const toyFile = "01-toy/toy.go"

// toyText returns the text of the toy's file, in the clone or in the folder of an exercise.
func toyText(dir string) string { return string(value(os.ReadFile(filepath.Join(dir, toyFile)))) }

// change replaces a text in the toy's file, in the clone or in the folder of an exercise.
func change(t *testing.T, dir, from, to string) {
	t.Helper()
	before, after, found := strings.Cut(toyText(dir), from)
	if !found {
		t.Fatalf("there is no %q in\n%s", from, toyText(dir))
	}
	writeFile(t, dir, toyFile, before+to+after)
}

// solveJoin writes a solution of join that is not like the book's, and checks it.
func solveJoin(t *testing.T, root string) {
	t.Helper()
	runCommand(t, root, "start", "join")
	change(t, in(root, "join"), hole, ofMine)
	runCommand(t, root, "check", "join")
}

const ofMine = `return parts[0] + "/" + parts[1]`

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
	wantContains(t, "next", started, "Write `Join`, as the page (docs/01-toy.md) says.",
		"Yours: .practice/join/01-toy/toy.go:8 (Join)\n", "code .practice/join")
	if strings.Contains(started, "go test") {
		t.Errorf("next printed %q, want it without the check", started)
	}
	wantContains(t, "list", runCommand(t, root, "list"), "open   write join")
	wantContains(t, "list -json", runCommand(t, root, "list", "-json"),
		`[{"name":"join","page":"01-toy/practice/join.md","kind":"write","state":"open","folder":".practice/join",`+
			`"places":[{"file":".practice/join/01-toy/toy.go","line":8,"function":"Join"}]},`,
		`"kind":"fix","state":"","folder":".practice/tail","places":[{"file":"01-toy/toy.go"}]}`)
	wantContains(t, "nothing", runCommand(t, root), "Open: join", ".practice/join/01-toy/toy.go:8 (Join)")
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
	change(t, in(root, "join"), hole, ofMine)
	wantContains(t, "check", runCommand(t, root, "check"),
		"ok    TestJoin", "join: solved. That makes 1 of 3.", "keep join", "Next: tail (fix")
	wantContains(t, "list", runCommand(t, root, "list"), "solved write join", "1 of the 1")
	wantContains(t, "solution", runCommand(t, root, "solution", "join"), "+\treturn strings.Join(parts, ", "Because.")
	if got := toyText(root); got != book {
		t.Errorf("the reader's own file is\n%s\nwant the book's, as it was", got)
	}
}

// A start shows the answer neither in what the reader has changed nor in the history.
func TestTheStartDoesNotShowTheAnswer(t *testing.T) {
	root := toy(t)
	runCommand(t, root, "start", "tail")
	if changes := byReader(t, in(root, "tail"), "status", "--short"); changes != "" {
		t.Errorf("git status prints %q, want nothing", changes)
	}
	if log := byReader(t, in(root, "tail"), "log", "--oneline"); strings.Count(log, "\n") != 1 {
		t.Errorf("git log prints\n%s\nwant one commit", log)
	}
	if branch := byReader(t, in(root, "tail"), "branch", "--show-current"); branch != "" {
		t.Errorf("the branch is %q, want none", branch)
	}
	if got := byReader(t, root, "status", "--short", "--untracked-files=all"); got != "" {
		t.Errorf("in the clone, git status prints %q, want nothing", got)
	}
}

// What was solved once stays solved: after a reset, after a check that fails, and when the folder is gone.
func TestSolvedStaysSolved(t *testing.T) {
	root := toy(t)
	wantSolved := func(when, listed string) {
		t.Helper()
		wantContains(t, when, runCommand(t, root), "01-toy                1 of  3  #..")
		wantContains(t, "list "+when, runCommand(t, root, "list"), "1 of the 1", listed)
	}
	solveJoin(t, root)
	change(t, in(root, "join"), ofMine, `return ""`)
	wantUnsolved(t, root, "join", "want a/b", "join was solved, and is open again")
	wantSolved("after a check that fails", "open   write join")
	wantContains(t, "reset", runCommand(t, root, "reset", "join"), "It stays solved.")
	wantSolved("after the reset", "open   write join")
	must.NoError(t, os.RemoveAll(in(root, "join")))
	wantSolved("when the folder is gone", "solved write join")
	wantContains(t, "list -json", runCommand(t, root, "list", "-json"),
		`"state":"","folder":".practice/join","solved":true`)
	next := runCommand(t, root, "next") // tail, and not join again
	wantContains(t, "next", next, "toy (.practice/tail/01-toy/toy.go)")
	runCommand(t, root, "start", "join")
	wantSolved("after it was started again", "open   write join")
}

// A reset brings the start back, and what was there comes back with the command that it prints.
func TestResetKeepsWhatWasThere(t *testing.T) {
	root := toy(t)
	runCommand(t, root, "start", "join")
	start := toyText(in(root, "join"))
	if output := runCommand(t, root, "reset", "join"); strings.Contains(output, "What you had") {
		t.Errorf("a reset of what has not changed prints\n%s\nwant no version that is kept", output)
	}
	change(t, in(root, "join"), hole, ofMine)
	mine := toyText(in(root, "join"))
	writeFile(t, in(root, "join"), "01-toy/größe.go", "package toy\n")
	wantContains(t, "reset", runCommand(t, root, "reset", "join"),
		"git -C .practice/join checkout refs/practice/reset/join -- . brings it back")
	if got := toyText(in(root, "join")); got != start {
		t.Errorf("after reset, the file is\n%s\nwant\n%s", got, start)
	}
	if _, err := os.Stat(filepath.Join(in(root, "join"), "01-toy/größe.go")); err == nil {
		t.Error("after reset, a new file of the reader's is there, want only what the start has")
	}
	byReader(t, root, "-C", ".practice/join", "checkout", "refs/practice/reset/join", "--", ".")
	if got := toyText(in(root, "join")); got != mine {
		t.Errorf("the version that was kept is\n%s\nwant\n%s", got, mine)
	}
	value(os.Stat(filepath.Join(in(root, "join"), "01-toy/größe.go")))

	writeFile(t, in(root, "join"), toyFile, "another one")
	runCommand(t, root, "reset", "join")
	if got := byReader(t, root, "show", "refs/practice/reset/join^2:"+toyFile); got != mine {
		t.Errorf("after a second reset, what was kept before is\n%s\nwant\n%s", got, mine)
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
	change(t, in(root, "count"), `"/")`, `"/") + 1`)
	wantContains(t, "check", runCommand(t, root, "check"), "docs/01-toy.md:7 explains it")

	// No page shows Join. Then it is the section that leads to the exercise.
	page := string(value(os.ReadFile(filepath.Join(root, "docs/01-toy.md"))))
	page = strings.Replace(page, "<!-- code 01-toy/toy.go Join separator -->", "", 1)
	writeFile(t, root, "docs/01-toy.md", page)
	runCommand(t, root, "start", "tail")
	change(t, in(root, "tail"), " + separator()", "")
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
		"join is not started: scripts/practice.sh start":     {"solution", "join"},
		"join is not started":                                {"check", "join"},
		"tail is not started":                                {"watch", "tail"},
		"count is not started":                               {"reset", "count"},
		"NAME of an exercise is missing":                     {"start"},
		"join is not solved, and nothing has changed":        {"keep", "join"},
		"too many arguments":                                 {"start", "join", "tail"},
	} {
		wantRefused(t, root, args, text)
	}
	wantContains(t, "help", runCommand(t, root, "help"), "usage:")

	runCommand(t, root, "start", "join")
	wantContains(t, "a second start", runCommand(t, root, "start", "join"),
		"open already, and nothing has changed", "Write `Join`")

	writeFile(t, root, toyFile, "package toy\n")
	commit(t, root)
	value(0, os.RemoveAll(in(root, "join")))
	value(0, os.Remove(filepath.Join(root, ".git/practice.json")))
	wantRefused(t, root, []string{"start", "join"}, "01-toy/toy.go: it has no function Join")

	outside := t.TempDir()
	wantRefused(t, outside, []string{"list"}, "the exercises need a clone made by git")
}

// In the folder of an exercise, commands without a name are for this exercise.
func TestTheFolderNamesTheExercise(t *testing.T) {
	root := toy(t)
	runCommand(t, root, "start", "join")
	runCommand(t, root, "start", "count")
	for _, name := range []string{"join", "count"} {
		t.Setenv("PRACTICE_FROM", filepath.Join(in(root, name), "01-toy"))
		wantContains(t, "hint in "+name, runCommand(t, root, "hint"), name+", hint 1 of 3")
	}
	t.Setenv("PRACTICE_FROM", root)
	wantContains(t, "hint in the clone", runCommand(t, root, "hint"), "join, hint 2 of 3")
	for _, dir := range []string{root, filepath.Join(in(root, "join"), "01-toy")} {
		if clone, err := workspace.Clone(dir); err != nil || clone != root {
			t.Errorf("workspace.Clone(%s) = %s, %v; want %s", dir, clone, err, root)
		}
	}
}

// After a pull, a start has the code that came with it, and what was started stays as it was. What the
// reader has committed is never the book's.
func TestAStartHasTheBooksCode(t *testing.T) {
	origin := toy(t)
	root := filepath.Join(t.TempDir(), "clone")
	byReader(t, origin, "clone", "--quiet", origin, root)
	identify(t, root, "reader")
	solveJoin(t, root)
	runCommand(t, root, "keep", "join")
	commit(t, root)
	runCommand(t, root, "start", "tail")
	if got := toyText(in(root, "tail")); strings.Contains(got, ofMine) {
		t.Errorf("after the reader's commit, a start has\n%s\nwant the book's code", got)
	}

	identify(t, origin, "author")
	change(t, origin, "Package toy has", "Package toy is new: it has")
	test := string(value(os.ReadFile(filepath.Join(origin, "01-toy/toy_test.go"))))
	writeFile(t, origin, "01-toy/toy_test.go", strings.ReplaceAll(test, "TestJoin", "TestJoined"))
	page := string(value(os.ReadFile(filepath.Join(origin, "01-toy/practice/join.md"))))
	writeFile(t, origin, "01-toy/practice/join.md", strings.ReplaceAll(page, "TestJoin", "TestJoined"))
	commit(t, origin)
	byReader(t, root, "pull", "--quiet", "--no-rebase", "--no-edit")
	wantContains(t, "check", runCommand(t, root, "check", "join"), "ok    TestJoin\n")
	runCommand(t, root, "start", "count")
	if got := toyText(in(root, "count")); !strings.Contains(got, "is new") || strings.Contains(got, ofMine) {
		t.Errorf("after a pull, a start has\n%s\nwant what has come, and nothing of the reader's", got)
	}
	runCommand(t, root, "reset", "join")
	wantUnsolved(t, root, "join", "FAIL  TestJoined")
}
