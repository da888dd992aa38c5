// Where a step is: which program has it, and where its code and its section in the book are. This
// is known only inside of the workspace.

package play

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"example.com/informer/scripts/harness/spelling"
	"example.com/informer/scripts/harness/workspace"
)

// hint returns what the user may mean with a name that is no step of this chapter: a step of
// another program, or a step of this program with nearly the same name.
func (c Chapter) hint(name string) string {
	programs := c.programsWith(name)
	switch {
	case len(programs) == 1:
		return fmt.Sprintf(": %s has it", programs[0])
	case len(programs) > 1:
		return fmt.Sprintf(": %s have it", strings.Join(programs, " and "))
	}
	var names []string
	for _, s := range c.Steps {
		names = append(names, s.Name)
	}
	return spelling.DidYouMean(name, names)
}

// programsWith returns the commands that run a step of this name: those in the folder of this
// chapter, else those of other chapters.
func (c Chapter) programsWith(name string) []string {
	root, err := workspace.Root(".")
	if err != nil || path.Base(name) != name {
		return nil
	}
	ownFolder, _, _ := strings.Cut(c.Name, "/")
	if own := commandsFor(root, ownFolder, name); len(own) > 0 {
		return own
	}
	return commandsFor(root, "[0-9][0-9]-*", name)
}

// commandsFor returns the commands that run a step of this name, for the programs in the folders of
// a pattern and directly below them.
func commandsFor(root, folders, name string) (commands []string) {
	for _, pattern := range []string{folders + "/testdata", folders + "/*/testdata"} {
		found, _ := filepath.Glob(filepath.Join(root, pattern)) // its only error is a malformed pattern
		for _, testdata := range found {
			program, err := filepath.Rel(root, filepath.Dir(testdata))
			if err != nil || !isFile(filepath.Join(testdata, name+".txt")) || isOwnModule(root, program) {
				continue
			}
			commands = append(commands, fmt.Sprintf("go run ./%s %s", filepath.ToSlash(program), name))
		}
	}
	return commands
}

// isOwnModule reports whether a program is a module below a chapter. Such a module is not in
// go.work, and so "go run ./PROGRAM" does not run it.
func isOwnModule(root, program string) bool {
	return filepath.Dir(program) != "." && isFile(filepath.Join(root, program, "go.mod"))
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// begin returns the event of a step that begins, with the places where its code and its section
// are.
func (c Chapter) begin(s Step) event {
	e := event{Event: beginEvent, Chapter: c.Name, Step: s.Name, Title: s.Title, Folds: s.Fold}
	root, err := workspace.Root(".")
	code := c.Name + "/step_" + s.Name + ".go"
	if err != nil || !isFile(filepath.Join(root, code)) {
		return e
	}
	e.Code, e.Section = code, findSection(root, code, s.Name)
	e.Transcript = c.Name + "/testdata/" + s.Name + ".txt"
	return e
}

// where returns a line that says where the code and the section of a step are.
func where(begin event) string {
	switch {
	case begin.Code == "":
		return ""
	case begin.Section == "":
		return fmt.Sprintf("(The code is in %s.)\n", begin.Code)
	default:
		return fmt.Sprintf("(The code is in %s, and the text in %s.)\n", begin.Code, begin.Section)
	}
}

var heading = regexp.MustCompile(`^##+ `)

// findSection returns page:line of the section about a step, or "". It looks at the pages that show
// the step's code.
func findSection(root, code, step string) (section string) {
	pages, _ := filepath.Glob(filepath.Join(root, "docs", "*.md")) // its only error is a malformed pattern
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			continue
		}
		line, named := sectionLine(string(text), code, step)
		if line == 0 {
			continue
		}
		place := fmt.Sprintf("docs/%s:%d", filepath.Base(page), line)
		if named {
			return place
		}
		if section == "" {
			section = place
		}
	}
	return section
}

// sectionLine returns the line of the heading of the section about a step, or 0 if the page does
// not show its code. That is the heading that begins with the step's name; then named is true. If
// there is none, it is the heading above the code.
func sectionLine(text, code, step string) (line int, named bool) {
	marker := "<!-- code " + code + " "
	if !strings.Contains(text, marker) {
		return 0, false
	}
	lastHeading := 1
	for i, content := range strings.Split(text, "\n") {
		switch {
		case strings.HasPrefix(content, "### "+step+": "):
			return i + 1, true
		case heading.MatchString(content):
			lastHeading = i + 1
		case line == 0 && strings.HasPrefix(content, marker):
			line = lastHeading
		}
	}
	return line, false
}
