// Tests that the commands keep what the reader has written.

package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"example.com/informer/scripts/harness/must"
)

// mineForJoin is a solution of join that is not like the book's.
const mineForJoin = `var all []byte
	for _, part := range parts {
		all = append(glue(all), part...)
	}
	return string(all)`

// glueOfMine is a helper of it.
const glueOfMine = `

func glue(all []byte) []byte {
	if len(all) == 0 {
		return all
	}
	return append(all, '/')
}
`

// solveJoin solves the exercise join with code that is not like the book's.
func solveJoin(t *testing.T, root string) {
	t.Helper()
	runCommand(t, root, "start", "join")
	change(t, root, hole, mineForJoin)
	writeFile(t, root, toyFile, toyText(root)+glueOfMine)
	runCommand(t, root, "check", "join")
}

// Another exercise in the same file leaves the reader's code as it is.
func TestAnotherExerciseLeavesTheReadersCode(t *testing.T) {
	root := toy(t)
	solveJoin(t, root)
	mine := toyText(root)
	runCommand(t, root, "start", "count")
	if got, want := toyText(root), strings.Replace(mine, `"/") + 1`, `"/")`, 1); got != want {
		t.Errorf("after start count, the file is\n%s\nwant\n%s", got, want)
	}
	runCommand(t, root, "reset", "count")
	if got := toyText(root); got != mine {
		t.Errorf("after reset count, the file is\n%s\nwant\n%s", got, mine)
	}
}

// An exercise about the same function replaces the reader's code, and it can be brought back.
func TestWhatIsReplacedCanBeBroughtBack(t *testing.T) {
	root := toy(t)
	solveJoin(t, root)
	change(t, root, "string(all)", "string(all[:])") // after it was solved
	mine := toyText(root)
	started := runCommand(t, root, "start", "tail")
	wantContains(t, "start", started,
		"Your version of join is replaced, and kept: `scripts/practice.sh mine join` brings it back.",
		"What the book does not have stays: glue.")
	wantContains(t, "the file", toyText(root), "strings.Join(parts, separator()) + separator()", "func glue(")
	wantRefused(t, root, []string{"check", "join"}, "belongs to tail now")
	wantRefused(t, root, []string{"mine", "join"}, "where tail is open")
	wantUnsolved(t, root, "tail", `got "a/b/", want a/b`)

	change(t, root, "separator()) + separator()", `"/")`)
	wantContains(t, "check", runCommand(t, root, "check"), "mine join brings your own version")
	runCommand(t, root, "check", "join") // passes with the code of tail, and does not keep it
	wantContains(t, "mine", runCommand(t, root, "mine", "join"),
		"Your version of tail is replaced, and kept", "01-toy/toy.go has your version of join again.")
	if got := textOf(toyText(root), "Join"); got != textOf(mine, "Join") {
		t.Errorf("after mine, Join is\n%s\nwant\n%s", got, textOf(mine, "Join"))
	}
	runCommand(t, root, "check", "join")
	reset := runCommand(t, root, "reset", "join")
	wantContains(t, "reset", reset, "What the book does not have stays: glue.")
	runCommand(t, root, "mine", "join")
	runCommand(t, root, "check", "join")
}

// solveTail solves the exercise tail, which is about the same function as join.
func solveTail(t *testing.T, root string) {
	t.Helper()
	runCommand(t, root, "start", "tail")
	change(t, root, "strings.Join(parts, separator()) + separator()", `strings.Join(parts, "/")`)
	runCommand(t, root, "check", "tail")
}

// A check offers to bring a version back only if that version is not there already.
func TestWhatIsThereIsNotOfferedAgain(t *testing.T) {
	root := toy(t)
	solveJoin(t, root)
	solveTail(t, root)
	if checked := runCommand(t, root, "check", "join"); strings.Contains(checked, "mine tail") {
		t.Errorf("check join printed\n%s\nwant no offer of tail's version, which is in the file", checked)
	}
	wantContains(t, "check tail", runCommand(t, root, "check", "tail"), "mine join brings your own version")
}

// An exercise is solved as long as the code that was written for it passes its check.
func TestASolvedExerciseIsOpenAgain(t *testing.T) {
	root := toy(t)
	solveJoin(t, root)
	change(t, root, "string(all)", "string(all[1:])")
	wantUnsolved(t, root, "join", "join was solved, and is open again")
	wantContains(t, "list", runCommand(t, root, "list"), "open   write join")
	change(t, root, "string(all[1:])", "string(all)")
	runCommand(t, root, "check", "join")

	solveTail(t, root)
	change(t, root, `strings.Join(parts, "/")`, `strings.Join(parts, "")`)
	wantUnsolved(t, root, "join", "join stays solved: what is there now is your version of tail")
	wantUnsolved(t, root, "tail", "tail was solved, and is open again")
	change(t, root, `strings.Join(parts, "")`, `strings.Join(parts, "/")`)
	runCommand(t, root, "check", "tail")

	runCommand(t, root, "mine", "join")
	wantContains(t, "list after mine", runCommand(t, root, "list"), "open   write join", "solved fix   tail")
}

// brokenBody is a body of Join that is not valid Go. The parser gives up at its eleventh error.
var brokenBody = "return parts[0] + (if" + strings.Repeat("\n\tif", 11)

// A file that is not valid Go stays as it is, and so does the state of its exercises.
func TestAFileThatDoesNotParseIsRefused(t *testing.T) {
	root := toy(t)
	solveCount := func() {
		runCommand(t, root, "start", "count")
		change(t, root, `"/")`, `"/") + 1 + 0`)
		runCommand(t, root, "check", "count")
	}
	solveCount()
	runCommand(t, root, "reset", "count")
	runCommand(t, root, "start", "join")
	for _, body := range []string{`return strings.Join(parts, "/"`, brokenBody} {
		change(t, root, hole, body)
		broken, list := toyText(root), runCommand(t, root, "list")
		for _, args := range [][]string{{"start", "count"}, {"mine", "count"}, {"start", "01"}} {
			wantRefused(t, root, args, "01-toy/toy.go:8:")
			wantRefused(t, root, args, "correct this line, or reset the exercise that it belongs to")
			if got := toyText(root); got != broken {
				t.Errorf("after %q, the file is\n%s\nwant it as it was\n%s", args, got, broken)
			}
			if got := runCommand(t, root, "list"); got != list {
				t.Errorf("after %q, list prints\n%s\nwant what it printed before\n%s", args, got, list)
			}
		}
		change(t, root, body, hole)
	}
	solveCount()
	change(t, root, hole, brokenBody)
	wantRefused(t, root, []string{"reset", "count"}, "01-toy/toy.go:8:")
}

// A check of what is not valid Go prints the compiler's error, though another exercise of the file
// is open.
func TestACheckOfWhatDoesNotParse(t *testing.T) {
	root := toy(t)
	runCommand(t, root, "start", "01")
	change(t, root, hole, brokenBody)
	wantUnsolved(t, root, "join", "01-toy/toy.go:9:", "syntax error")
	wantUnsolved(t, root, "count", "got 0, want 1") // join has the book's code
}

// What belongs to another file of the folder is not declared a second time.
func TestAFunctionInAFileOfTheReadersOwn(t *testing.T) {
	root := toy(t)
	runCommand(t, root, "start", "01")
	before := toyText(root)
	change(t, root, textOf(before, "Join"), "")
	const mine = "package toy\n\nfunc Join(parts ...string) string { return parts[0] + \"/\" + parts[1] }\n"
	writeFile(t, root, "01-toy/mine.go", mine)
	wantUnsolved(t, root, "count", "got 0, want 1") // it compiles
	moved := toyText(root)
	wantRefused(t, root, []string{"reset", "join"}, "01-toy/mine.go:3: Join is here")
	if got := toyText(root); got != moved {
		t.Errorf("after reset, the file is\n%s\nwant it as it was\n%s", got, moved)
	}
	wantContains(t, "list", runCommand(t, root, "list"), "open   write join")
	runCommand(t, root, "check", "join")
}

// A declaration without a name is no helper of the reader's.
func TestDeclarationsOfWhatDoesNotParse(t *testing.T) {
	const text = "package p\n\nvar _ = 1\n\nvar _ = 2\n\nfunc init() {}\n\nfunc F() {}\n"
	parsed, byLines := declarations(text), declarationsByLines(text)
	if len(parsed) != len(byLines) {
		t.Fatalf("%d declarations by lines, want %d", len(byLines), len(parsed))
	}
	for i, want := range parsed {
		if got := byLines[i].name; got != want.name {
			t.Errorf("declaration %d by lines is %q, want %q", i, got, want.name)
		}
	}
}

// A reset helps even if the reader's code is not valid Go.
func TestResetOfWhatDoesNotParse(t *testing.T) {
	root := toy(t)
	book := toyText(root)
	runCommand(t, root, "start", "join")
	change(t, root, hole, `return "`)
	wantUnsolved(t, root, "join", "toy.go:8")
	runCommand(t, root, "reset", "join")
	if got := toyText(root); strings.TrimSpace(got) != strings.TrimSpace(book) {
		t.Errorf("after reset, the file is\n%s\nwant\n%s", got, book)
	}
}

// All exercises of a chapter can be open. A check of one is not disturbed by the others.
func TestAChapterAtOnce(t *testing.T) {
	root := toy(t)
	book := toyText(root)
	started := runCommand(t, root, "start", "01")
	wantContains(t, "start 01", started, "Open: join", "Open: count", "tail (after join)", "Begin with join")
	change(t, root, hole, `return parts[0] + "/" + parts[1]`)
	runCommand(t, root, "check", "join")
	wantUnsolved(t, root, "01", "join: solved", "got 0, want 1")
	change(t, root, `"/")`, `"/") + 1`)
	runCommand(t, root, "check")
	runCommand(t, root, "reset", "01")
	if got := toyText(root); got != book {
		t.Errorf("after reset 01, the file is\n%s\nwant\n%s", got, book)
	}
}

// In a check, the lines of the reader's code have their own numbers, though other functions have
// the book's code.
func TestTheReadersLinesKeepTheirNumbers(t *testing.T) {
	const mine = "package p\n\nfunc A() {\n\tpanic(1)\n}\n\nfunc B() {}\n\nfunc C() {\n\tpanic(2)\n}\n\nfunc D() {}\n"
	const book = "package p\n\nimport \"fmt\"\n\nfunc A() {\n\tfmt.Println()\n\tfmt.Println()\n}\n\n" +
		"func C() {}\n\nfunc E() {}\n"
	set := token.NewFileSet()
	text := withBooks(mine, book, []string{"C", "A", "E"})
	file, err := parser.ParseFile(set, "p.go", text, parser.ParseComments)
	must.NoError(t, err)
	lines := map[string]int{}
	for _, decl := range file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok {
			lines[f.Name.Name] = set.Position(f.Pos()).Line
		}
	}
	for name, want := range map[string]int{"A": 3, "B": 7, "C": 9, "D": 13} {
		if lines[name] != want {
			t.Errorf("%s is in line %d, want %d, in\n%s", name, lines[name], want, text)
		}
	}
	if lines["E"] == 0 {
		t.Errorf("there is no E in\n%s", text)
	}
}
