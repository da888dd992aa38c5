// The README.md of each chapter's folder: for readers who look at the code first. `go run ./docs`
// writes it from the programs of the chapter and the contents of the book.

package book

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// A program is a program with steps.
type program struct {
	folder  string
	title   string // the first sentence of its comment
	summary string // the rest of the first paragraph
	steps   []stepLine
}

// A stepLine is what a README says about a step.
type stepLine struct{ name, title string }

// folderPages returns the README.md of each chapter that has a program with steps, by their names.
func (b *Book) folderPages() (texts map[string]string, found []Problem) {
	texts = map[string]string{}
	for _, chapter := range b.chapters() {
		var programs []program
		_ = fs.WalkDir(b.ws, chapter, func(name string, _ fs.DirEntry, err error) error {
			if path.Base(name) != "main.go" || b.isOtherModule(path.Dir(name), chapter) {
				return err
			}
			p, err := b.readProgram(name)
			if err != nil {
				found = append(found, pageProblem(name, "%v", err))
			} else if len(p.steps) > 0 {
				programs = append(programs, p)
			}
			return nil
		})
		slices.SortFunc(programs, func(x, y program) int { return strings.Compare(x.folder, y.folder) })
		if len(programs) > 0 {
			texts[chapter+"/README.md"] = b.folderPage(chapter, programs)
		}
	}
	return texts, found
}

// isOtherModule says whether a folder below a chapter is a module of its own. Such a module is not in
// go.work, and so `go run ./FOLDER` does not run it.
func (b *Book) isOtherModule(folder, chapter string) bool {
	_, err := fs.Stat(b.ws, folder+"/go.mod")
	return folder != chapter && err == nil
}

// checkFolders finds a README.md of a chapter that is not up to date, and programs whose comment does
// not name a page of their chapter.
func (b *Book) checkFolders() []Problem {
	texts, found := b.folderPages()
	for name, want := range texts {
		if got, err := b.readFile(name); err != nil || string(got) != want {
			found = append(found, pageProblem(name,
				"it is not what the programs and the contents give: `go run ./docs` writes it"))
		}
	}
	return found
}

// readProgram reads a main.go. A program without steps has none in the result.
func (b *Book) readProgram(name string) (program, error) {
	source, err := b.readFile(name)
	if err != nil {
		return program{}, err
	}
	_, tree, err := parseGo(name, source)
	if err != nil {
		return program{}, fmt.Errorf("looking for steps: %w", err)
	}
	p := program{folder: path.Dir(name), steps: stepsOf(tree)}
	comment, pages, _ := strings.Cut(tree.Doc.Text(), "\n\n")
	if ownPage := "docs/" + name[:len("01-")]; len(p.steps) > 0 && !strings.Contains(pages, ownPage) {
		return program{}, fmt.Errorf("the last paragraph of the package comment names no page of the chapter, "+
			"%s….md", ownPage)
	}
	comment = strings.Join(strings.Fields(comment), " ")
	p.title = new(doc.Package).Synopsis(comment)
	p.summary = strings.TrimSpace(strings.TrimPrefix(comment, p.title))
	return p, nil
}

// stepsOf returns the steps in the field Steps of a chapter.
func stepsOf(tree *ast.File) (steps []stepLine) {
	ast.Inspect(tree, func(n ast.Node) bool {
		field, ok := n.(*ast.KeyValueExpr)
		if !ok || !isNamed(field.Key, "Steps") {
			return true
		}
		if list, ok := field.Value.(*ast.CompositeLit); ok {
			for _, element := range list.Elts {
				steps = append(steps, stepLine{stringField(element, "Name"), stringField(element, "Title")})
			}
		}
		return false
	})
	return steps
}

// isNamed says whether an expression is this name.
func isNamed(e ast.Expr, name string) bool {
	identifier, ok := e.(*ast.Ident)
	return ok && identifier.Name == name
}

// stringField returns the string that a field of a struct is set to, or "".
func stringField(e ast.Expr, name string) (text string) {
	literal, ok := e.(*ast.CompositeLit)
	if !ok {
		return ""
	}
	for _, element := range literal.Elts {
		field, ok := element.(*ast.KeyValueExpr)
		if !ok || !isNamed(field.Key, name) {
			continue
		}
		if value, ok := field.Value.(*ast.BasicLit); ok && value.Kind == token.STRING {
			text, _ = strconv.Unquote(value.Value) // the parser has accepted it
		}
	}
	return text
}

// folderPage returns the README.md of a chapter.
func (b *Book) folderPage(chapter string, programs []program) string {
	var pages []string
	for _, part := range b.Contents() {
		for _, e := range part.Entries {
			if strings.HasPrefix(e.Page, "docs/"+chapter[:len("01-")]) {
				pages = append(pages, fmt.Sprintf("[%s](../%s)", e.Title, e.Page))
			}
		}
	}
	var text strings.Builder
	for i, p := range programs {
		heading, more := "##", ""
		if i == 0 {
			heading, more = "#", "\n"+wrap("Pages: "+strings.Join(pages, ", ")+".")
		}
		fmt.Fprintf(&text, "%s %s\n\n%s%s\n", heading, strings.TrimSuffix(p.title, "."), wrap(p.summary), more)
		text.WriteString("| step | what you see |\n|---|---|\n")
		for _, s := range p.steps {
			fmt.Fprintf(&text, "| `go run ./%s %s` | %s |\n", p.folder, s.name, s.title)
		}
		text.WriteString("\n")
	}
	return strings.TrimSuffix(text.String(), "\n")
}

// maxColumns is the length of a line of a page.
const maxColumns = 140

// wrap breaks a text into lines.
func wrap(text string) string {
	var lines strings.Builder
	length := 0
	for _, word := range strings.Fields(text) {
		switch columns := len([]rune(word)); {
		case length == 0:
			length = columns
		case length+1+columns > maxColumns:
			lines.WriteString("\n")
			length = columns
		default:
			lines.WriteString(" ")
			length += 1 + columns
		}
		lines.WriteString(word)
	}
	return lines.String() + "\n"
}
