// Code with colours, listings of files, and differences.

package main

import (
	"cmp"
	"fmt"
	"html/template"
	"net/url"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
	"github.com/pmezard/go-difflib/difflib"

	"example.com/informer/docs/book"
)

// A listing is a file that is not a page.
type listing struct {
	File    string
	Version string // differs after the file has changed
	Text    template.HTML
	First   int // the first line that is marked; 0 for none

	HasChanges bool         // lines of it are not those of the last commit
	Editor     template.URL // an address that opens the file in an editor
}

// listing returns the page with a file. It marks the declarations that show names, with commas
// between them, or a line.
func (r *reader) listing(name, version string, source []byte, show string, line int) *pageData {
	code := &listing{File: name, Version: version, First: line}
	marks := r.changedLines(name)
	code.HasChanges = len(marks) > 0
	if line > 0 {
		marks[line] += " marked"
	}
	if path.Ext(name) == ".go" && show != "" {
		for _, lines := range book.DeclarationLines(name, source, strings.Split(show, ",")) {
			for line := lines[0]; line <= lines[1]; line++ {
				marks[line] += " marked"
			}
			if code.First == 0 {
				code.First = lines[0]
			}
		}
	}
	if path.Base(path.Dir(name)) == "testdata" && path.Ext(name) == ".txt" {
		code.Text = transcript(string(source))
	} else {
		code.Text = highlight(strings.TrimPrefix(path.Ext(name), "."), string(source), marks)
	}
	file := &url.URL{Scheme: "vscode", Host: "file", Path: filepath.ToSlash(filepath.Join(r.root.Name(), name))}
	code.Editor = template.URL(fmt.Sprintf("%s:%d", file, max(1, code.First)))
	return &pageData{Name: name, Version: version, Title: path.Base(name), Code: code}
}

// hunk matches the lines of a file that differ from its last commit, in the output of git.
var hunk = regexp.MustCompile(`(?m)^@@ \S+ \+(\d+)(?:,(\d+))? @@`)

// changedLines returns a class for each line of a file that differs from the last commit. In the folder
// of an exercise, which is a worktree, that is its start.
func (r *reader) changedLines(name string) (marks map[int]string) {
	marks = map[int]string{}
	folder, file, ok := inExercise(name)
	if !ok {
		file = name
	}
	diff := exec.Command("git", "diff", "--unified=0", "--no-ext-diff", "--no-textconv", "--no-color", "HEAD",
		"--", file)
	diff.Dir = filepath.Join(r.root.Name(), folder)
	text, err := diff.Output()
	if err != nil {
		return marks // there is no git, or no commit
	}
	for _, match := range hunk.FindAllSubmatch(text, -1) {
		first, _ := strconv.Atoi(string(match[1])) // the expression matches numbers only
		count, _ := strconv.Atoi(cmp.Or(string(match[2]), "1"))
		for line := first; line < first+count; line++ {
			marks[line] = " yours"
		}
	}
	return marks
}

// newLines returns a class for each line of a text that another text does not have.
func newLines(before, after string) (marks map[int]string) {
	marks = map[int]string{}
	a, b := strings.Split(before, "\n"), strings.Split(after, "\n")
	for _, op := range difflib.NewMatcherWithJunk(a, b, false, nil).GetOpCodes() {
		for line := op.J1 + 1; op.Tag != 'e' && line <= op.J2; line++ {
			marks[line] = " yours"
		}
	}
	return marks
}

// highlight returns a text as HTML, with an element for each line, and with classes for the
// colours. marks are more classes of lines.
func highlight(lang, text string, marks map[int]string) template.HTML {
	lexer := lexers.Get(lang)
	if lexer == nil {
		lexer = lexers.Fallback
	}
	tokens, err := chroma.Tokenise(chroma.Coalesce(lexer), nil, text)
	if err != nil {
		tokens = []chroma.Token{{Type: chroma.Text, Value: text}}
	}
	var out strings.Builder
	for i, line := range chroma.SplitTokensIntoLines(tokens) {
		fmt.Fprintf(&out, `<span class="line%s%s">`, marks[i+1], indentClass(line))
		writeTokens(&out, line, lang == "sh")
		out.WriteString("</span>\n")
	}
	return template.HTML(out.String())
}

// indentClass returns the class of a line that begins with tabs: where the line is wrapped, it goes on there.
func indentClass(line []chroma.Token) string {
	const most = 6 // in reader.css
	tabs := len(line[0].Value) - len(strings.TrimLeft(line[0].Value, "\t"))
	if tabs == 0 {
		return ""
	}
	return fmt.Sprintf(" in%d", min(tabs, most))
}

// part matches a word, after the sign that begins a comment, or what is between two words.
var part = regexp.MustCompile(`(?:# )?\S+|\s+`)

// writeTokens writes a line as HTML. On request each word is an element, so that the line is not
// wrapped within a word: a browser would do so at a hyphen.
func writeTokens(out *strings.Builder, line []chroma.Token, withWords bool) {
	inWord := false
	for _, token := range line {
		text := strings.TrimSuffix(token.Value, "\n")
		parts := []string{text}
		if withWords {
			parts = part.FindAllString(text, -1)
		}
		for _, part := range parts {
			isSpace := strings.TrimSpace(part) == ""
			if withWords && isSpace == inWord {
				tag := `<span class="word">`
				if inWord {
					tag = "</span>"
				}
				out.WriteString(tag)
				inWord = !inWord
			}
			value := template.HTMLEscapeString(part)
			if class := tokenClass(token.Type); class != "" {
				value = fmt.Sprintf(`<span class="%s">%s</span>`, class, value)
			}
			out.WriteString(value)
		}
	}
	if inWord {
		out.WriteString("</span>")
	}
}

// tokenClass returns the class for the colour of a token, or "" if it has none of its own.
func tokenClass(t chroma.TokenType) string {
	switch {
	case t.InCategory(chroma.Comment):
		return "c"
	case t.InCategory(chroma.Keyword):
		return "k"
	case t.InSubCategory(chroma.LiteralString):
		return "s"
	case t.InSubCategory(chroma.LiteralNumber):
		return "m"
	case t == chroma.NameFunction, t == chroma.NameClass, t == chroma.NameTag, t == chroma.NameAttribute:
		return "f"
	case t == chroma.GenericInserted:
		return "gi"
	case t == chroma.GenericDeleted:
		return "gd"
	}
	return ""
}

// transcript returns a transcript as HTML, with an element for each line. Commands and actions have
// a class of their own.
func transcript(text string) template.HTML {
	var out strings.Builder
	for line := range strings.Lines(text) {
		class := "line"
		switch {
		case strings.HasPrefix(line, "$ "):
			class = "line command"
		case strings.HasPrefix(line, "> "), strings.HasPrefix(line, "^C"):
			class = "line action"
		}
		fmt.Fprintf(&out, `<span class="%s">`, class)
		token := chroma.Token{Type: chroma.Text, Value: line}
		writeTokens(&out, []chroma.Token{token}, class == "line command")
		out.WriteString("</span>\n")
	}
	return template.HTML(out.String())
}

// difference returns the difference between two texts as HTML, with three lines around each change.
func difference(before, after string) template.HTML {
	a, b := strings.Split(before, "\n"), strings.Split(after, "\n")
	var out strings.Builder
	write := func(class, mark string, lines []string) {
		for _, line := range lines {
			fmt.Fprintf(&out, `<span class="line %s">%s%s</span>`+"\n", class, mark, template.HTMLEscapeString(line))
		}
	}
	for i, group := range difflib.NewMatcherWithJunk(a, b, false, nil).GetGroupedOpCodes(3) {
		if i > 0 {
			write("c", "", []string{"…"})
		}
		for _, op := range group {
			if op.Tag == 'e' {
				write("", "  ", a[op.I1:op.I2])
				continue
			}
			write("gd", "- ", a[op.I1:op.I2])
			write("gi", "+ ", b[op.J1:op.J2])
		}
	}
	return template.HTML(out.String())
}
