// Where a step is: which program has it, and where its code and its text in the book are. This is
// known only inside of the workspace.

package play

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"example.com/informer/scripts/harness/step/manifest"
	"example.com/informer/scripts/harness/workspace"
)

// hint returns which programs have a step of this name, if there are any.
func hint(name string) string {
	root, err := workspace.Root(".")
	if err != nil {
		return ""
	}
	all, _ := manifest.Read(os.DirFS(root)) // without it, there is no hint
	var commands []string
	for program := range all {
		if _, ok := all.Find(program, name); ok && !manifest.InOwnModule(os.DirFS(root), program) {
			commands = append(commands, fmt.Sprintf("go run ./%s %s", program, name))
		}
	}
	if len(commands) == 0 {
		return ""
	}
	slices.Sort(commands)
	return ", but there is " + strings.Join(commands, " and ")
}

// begin returns the event of a step that begins, with the places where its code and its text are.
func (c Chapter) begin(s Step) event {
	e := event{Event: beginEvent, Chapter: c.Name, Step: s.Name, Title: s.Title, Folds: s.Fold}
	root, err := workspace.Root(".")
	if err != nil {
		return e
	}
	code := c.Name + "/step_" + s.Name + ".go"
	if _, err := os.Stat(filepath.Join(root, code)); err != nil {
		return e
	}
	e.Code, e.Page = code, findPage(root, code)
	e.Transcript = c.Name + "/testdata/" + s.Name + ".txt"
	return e
}

// where returns a line that says where the code and the text of a step are.
func where(begin event) string {
	switch {
	case begin.Code == "":
		return ""
	case begin.Page == "":
		return fmt.Sprintf("(The code is in %s.)\n", begin.Code)
	default:
		return fmt.Sprintf("(The code is in %s, and the text in %s.)\n", begin.Code, begin.Page)
	}
}

// findPage returns page:line of a step's code in the book, or "".
func findPage(root, code string) string {
	pages, _ := filepath.Glob(filepath.Join(root, "docs", "*.md")) // its only error is a malformed pattern
	for _, page := range pages {
		text, _ := os.ReadFile(page)
		before, _, found := strings.Cut(string(text), "\n<!-- code "+code+" ")
		if found {
			return fmt.Sprintf("docs/%s:%d", filepath.Base(page), strings.Count(before, "\n")+2)
		}
	}
	return ""
}
