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
	wantContains(t, "start", started, "Your version of Join is replaced, and kept: `scripts/practice.sh mine join`")
	wantContains(t, "the file", toyText(root), "strings.Join(parts, separator()) + separator()", "func glue(")
	wantRefused(t, root, []string{"check", "join"}, "belongs to tail now")
	wantRefused(t, root, []string{"mine", "join"}, "where tail is open")
	wantUnsolved(t, root, "tail", `got "a/b/", want a/b`)

	change(t, root, " + separator()", "")
	wantContains(t, "check", runCommand(t, root, "check"), "mine join brings your own version")
	runCommand(t, root, "check", "join") // passes with the code of tail, and does not keep it
	runCommand(t, root, "mine", "join")
	if got := textOf(toyText(root), "Join"); got != textOf(mine, "Join") {
		t.Errorf("after mine, Join is\n%s\nwant\n%s", got, textOf(mine, "Join"))
	}
	runCommand(t, root, "check", "join")
	reset := runCommand(t, root, "reset", "join")
	wantContains(t, "reset", reset, "What the book does not have stays: glue.")
	runCommand(t, root, "mine", "join")
	runCommand(t, root, "check", "join")
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
