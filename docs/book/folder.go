// The README.md of each chapter's folder: for readers who look at the code first. `go run ./docs`
// writes it from the programs of the chapter, their steps, and the contents of the book.

package book

import (
	"fmt"
	"go/doc"
	"maps"
	"slices"
	"strings"

	"example.com/informer/scripts/harness/step/manifest"
)

// A program is a program with steps.
type program struct {
	folder  string
	title   string // the first sentence of its comment
	summary string // the rest of the first paragraph
	steps   []manifest.Step
}

// folderPages returns the README.md of each chapter that has a program with steps, by their names.
func (b *Book) folderPages() (texts map[string]string, found []Problem) {
	steps, err := manifest.Read(b.ws)
	if err != nil {
		return nil, []Problem{pageProblem(manifest.File, "%v", err)}
	}
	texts = map[string]string{}
	chapters := b.chapters()
	programs := map[string][]program{} // by chapter
	for _, folder := range slices.Sorted(maps.Keys(steps)) {
		chapter, _, _ := strings.Cut(folder, "/")
		if !slices.Contains(chapters, chapter) || manifest.InOwnModule(b.ws, folder) {
			continue
		}
		p, err := b.readProgram(folder)
		if err != nil {
			found = append(found, pageProblem(folder+"/main.go", "%v", err))
			continue
		}
		p.steps = steps[folder]
		programs[chapter] = append(programs[chapter], p)
	}
	for chapter := range programs {
		texts[chapter+"/README.md"] = b.folderPage(chapter, programs[chapter])
	}
	return texts, found
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

// readProgram reads the comment of a program.
func (b *Book) readProgram(folder string) (program, error) {
	name := folder + "/main.go"
	source, err := b.readFile(name)
	if err != nil {
		return program{}, err
	}
	_, tree, err := parseGo(name, source)
	if err != nil {
		return program{}, fmt.Errorf("looking for its comment: %w", err)
	}
	comment, pages, _ := strings.Cut(tree.Doc.Text(), "\n\n")
	if ownPage := "docs/" + name[:len("01-")]; !strings.Contains(pages, ownPage) {
		return program{}, fmt.Errorf("the last paragraph of the package comment names no page of the chapter, "+
			"%s….md", ownPage)
	}
	comment = strings.Join(strings.Fields(comment), " ")
	title := new(doc.Package).Synopsis(comment)
	return program{
		folder: folder, title: title, summary: strings.TrimSpace(strings.TrimPrefix(comment, title)),
	}, nil
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
			fmt.Fprintf(&text, "| `go run ./%s %s` | %s |\n", p.folder, s.Name, s.Title)
		}
		text.WriteString("\n")
	}
	return strings.TrimSuffix(text.String(), "\n")
}

// maxColumns is the length of a line of a page.
const maxColumns = 140

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
