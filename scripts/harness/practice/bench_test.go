// A bench tries many answers with one program, because most of the time of a check is that of the
// compiler and the linker.

package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/informer/scripts/harness/must"
)

// A bench checks versions of an exercise's file. Those that differ from the book's only in the bodies
// of functions are built together, and a variable of the environment chooses one of them.
type bench struct {
	t        *testing.T
	root     string
	exercise exercise
	together *checker
	choices  map[string]string // the version's text -> what chooses it
}

const choiceVariable = "PRACTICE_ANSWER"

// newBench returns a bench for these versions. Those that cannot be built together are left to
// programs of their own.
func newBench(t *testing.T, root string, e exercise, book string, versions []string) *bench {
	t.Helper()
	b := &bench{t: t, root: root, exercise: e, choices: map[string]string{}}
	merged := book
	for i, version := range versions {
		choice := fmt.Sprint(i + 1)
		if with, ok := merge(merged, book, version, choice); ok {
			merged, b.choices[version] = with, choice
		}
	}
	file, err := parser.ParseFile(token.NewFileSet(), "", book, parser.PackageClauseOnly)
	must.NoError(t, err)
	b.together = checkerWith(t, root, map[string]string{
		e.file: merged, filepath.Join(filepath.Dir(e.file), "practice_answer.go"): choiceFile(file.Name.Name),
	})
	if _, failure, err := b.together.build(t.Context(), e.checks[0]); failure != "" || err != nil {
		must.NoError(t, err)
		t.Logf("the answers are built one by one, because together they do not compile:\n%s", failure)
		clear(b.choices)
	}
	return b
}

// choiceFile returns the text of a file of a package that chooses a version.
func choiceFile(packageName string) string {
	return fmt.Sprintf("package %s\n\nimport \"os\"\n\nvar practiceAnswer = os.Getenv(%q)\n",
		packageName, choiceVariable)
}

// checkerWith returns a checker with some files replaced. What it builds is removed at the end.
func checkerWith(t *testing.T, root string, files map[string]string) *checker {
	t.Helper()
	dir := t.TempDir()
	overlay, err := writeOverlay(root, dir, files)
	must.NoError(t, err)
	c := newChecker(root, dir, overlay, &strings.Builder{})
	c.patience = time.Minute // the machine may be busy
	return c
}

// try checks the exercise with a version, up to this number of failures.
func (b *bench) try(version string, limit int) []failure {
	b.t.Helper()
	c := b.together
	if choice, ok := b.choices[version]; ok {
		c.env = []string{choiceVariable + "=" + choice}
	} else {
		c = checkerWith(b.t, b.root, map[string]string{b.exercise.file: version})
	}
	failures, err := c.runAll(b.t.Context(), b.exercise.checks, limit)
	must.NoError(b.t, err)
	return failures
}

// wantFailure checks the exercise with this version of its file, and wants it to fail: with the test of
// this name first, and with these words in the output. Any test will do if the name is "".
func (b *bench) wantFailure(what, version, name, words string) {
	b.t.Helper()
	failures := b.try(version, 1)
	switch {
	case len(failures) == 0:
		b.t.Errorf("check passes, but should fail: %s", what)
		return
	case strings.HasPrefix(failures[0].name, "./"):
		b.t.Errorf("the code does not compile: %s\n%s", what, failures[0].text)
		return
	case name != "" && failures[0].name != name:
		b.t.Errorf("%s passes, but is the first test of the exercise, and should fail: %s", name, what)
	}
	if !strings.Contains(failures[0].text, words) { // another test may print it
		failures = b.try(version, 0)
	}
	if !slices.ContainsFunc(failures, func(f failure) bool { return strings.Contains(f.text, words) }) {
		b.t.Errorf("%s: check printed\n%v\nwant %q in it", what, failures, words)
	}
}

// merge returns the merged text with the functions of one more version in it. It returns false if
// something else than the bodies of functions differs from the book, except for new declarations.
func merge(merged, book, version, choice string) (string, bool) {
	for _, name := range changedNames(book, version) {
		ours, inBook := find(book, name)
		theirs, inVersion := find(version, name)
		there, inMerged := find(merged, name)
		switch {
		case inBook && inVersion:
			call, ok := callOf(book, ours, version, theirs)
			if !ok {
				return "", false
			}
			at := there.body + len("{")
			merged = fmt.Sprintf("%s\nif practiceAnswer == %q {\n%s\n}\n%s", merged[:at], choice, call, merged[at:])
		case inVersion && !inMerged:
			merged += "\n" + version[theirs.begin:theirs.end] + "\n"
		default:
			return "", false
		}
	}
	return tidy(merged, version), true
}

// callOf returns code for the book's function that does what the version's function does. It calls a
// function literal that has the version's body. It returns false if one of the two is no function, or
// if they have different parameters or results.
func callOf(book string, ours declaration, version string, theirs declaration) (code string, ok bool) {
	if ours.body == 0 || theirs.body == 0 {
		return "", false
	}
	signatureOf := func(text string, d declaration) string {
		return comment.ReplaceAllString(text[d.begin:d.body], "")
	}
	signature := strings.TrimSpace(signatureOf(version, theirs))
	if signature != strings.TrimSpace(signatureOf(book, ours)) {
		return "", false
	}
	source := "package p\n" + signature + " {}"
	file, err := parser.ParseFile(token.NewFileSet(), "", source, parser.SkipObjectResolution)
	if err != nil {
		return "", false
	}
	function, _ := file.Decls[0].(*ast.FuncDecl)
	textOf := func(from, to token.Pos) string { return source[from-1 : to-1] }
	var arguments []string
	for _, field := range function.Type.Params.List {
		for _, name := range field.Names {
			argument := name.Name
			if argument == "_" { // the body does not use it
				argument = "*new(" + textOf(field.Type.Pos(), field.Type.End()) + ")"
			}
			if _, isVariadic := field.Type.(*ast.Ellipsis); isVariadic {
				argument += "..."
			}
			arguments = append(arguments, argument)
		}
	}
	code = fmt.Sprintf("func%s %s(%s)",
		textOf(function.Type.Params.Pos(), function.Type.End()), bodyOf(version, theirs), strings.Join(arguments, ", "))
	if function.Type.Results != nil {
		return "return " + code, true
	}
	return code + "\nreturn", true
}

// bodyOf returns the body of a function, without a comment behind it.
func bodyOf(text string, d declaration) string {
	body := text[d.body:d.end]
	return body[:strings.LastIndex(body, "}")+len("}")]
}

// In one program with the others, each version does what it does alone. A version that changes a
// parameter, or a type, is left out.
func TestVersionsInOneProgram(t *testing.T) {
	const book = `package main

import "fmt"

type box[T any] struct{ v T }

func (b *box[T]) set(v T, _ int, more ...T) { b.v = v }

func parse(s string) (n int, err error) {
	defer func() { n++ }()
	_, err = fmt.Sscan(s, &n)
	return n, err
}

func main() {
	b := &box[int]{}
	b.set(1, 2, 3, 4)
	n, err := parse("7")
	fmt.Print(b.v, n, err)
}
`
	versions := []struct{ before, after, prints string }{
		{"", "", "1 8 <nil>"},
		{"b.v = v", "b.v = more[len(more)-1]", "4 8 <nil>"},
		{"_, err = fmt.Sscan(s, &n)", `n, more := 5, 6; n = min(more, math.MaxInt)`, "1 7 <nil>"},
		{"return n, err\n}", "return twice(n), err\n}\n\nfunc twice(n int) int { return 2 * n }", "1 15 <nil>"},
		{"v T, _ int", "v T, _ uint", ""},
		{"struct{ v T }", "struct{ v, w T }", ""},
	}
	merged, choices := book, map[string]string{}
	for i, v := range versions {
		text := strings.Replace(book, v.before, v.after, 1)
		if strings.Contains(v.after, "math.") {
			text = strings.Replace(text, `import "fmt"`, "import (\n\t\"fmt\"\n\t\"math\"\n)", 1)
		}
		with, ok := merge(merged, book, text, fmt.Sprint(i))
		if ok != (v.prints != "") {
			t.Errorf("merge() of %q = %t", v.after, ok)
		}
		if ok {
			merged, choices[fmt.Sprint(i)] = with, v.prints
		}
	}
	dir := t.TempDir()
	writeFile(t, dir, "main.go", merged)
	writeFile(t, dir, "choice.go", choiceFile("main"))
	c := newChecker(dir, dir, "", &strings.Builder{})
	output, err := c.run(t.Context(), time.Minute, dir, "building",
		"go", "build", "-o", "program", "main.go", "choice.go")
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, output, merged)
	}
	for choice, want := range choices {
		c.env = []string{choiceVariable + "=" + choice}
		got, err := c.run(t.Context(), time.Minute, dir, "running", filepath.Join(dir, "program"))
		must.NoError(t, err)
		if got != want {
			t.Errorf("version %s printed %q, want %q", choice, got, want)
		}
	}
}
