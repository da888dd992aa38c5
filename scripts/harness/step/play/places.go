// Where a step is: which program has it, and where its code and its section in the book are. That is
// known inside of the workspace only.

package play

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"example.com/informer/scripts/harness/workspace"
)

// hint says what a name may mean that is no step of this chapter: a step of another program, or a step
// of this one that is spelled nearly so.
func (c Chapter) hint(name string) string {
	if programs := c.programsWith(name); len(programs) > 0 {
		has := map[bool]string{true: "has", false: "have"}[len(programs) == 1]
		return fmt.Sprintf(": %s %s it", strings.Join(programs, " and "), has)
	}
	nearest, least := "", 0
	for _, s := range c.Steps {
		far := distance(strings.ToLower(name), s.Name)
		if tolerable := (max(len(name), len(s.Name)) + 2) / 3; far <= tolerable && (nearest == "" || far < least) {
			nearest, least = s.Name, far
		}
	}
	if nearest == "" {
		return ""
	}
	return ": do you mean " + nearest + "?"
}

// programsWith are the commands that have a step of this name: those in the folder of this chapter,
// else those of other chapters.
func (c Chapter) programsWith(name string) (commands []string) {
	root, err := workspace.Root(".")
	if err != nil || path.Base(name) != name {
		return nil
	}
	own, _, _ := strings.Cut(c.Name, "/")
	for _, chapter := range []string{own, "[0-9][0-9]-*"} {
		for _, pattern := range []string{chapter + "/testdata", chapter + "/*/testdata"} {
			folders, _ := filepath.Glob(filepath.Join(root, pattern)) // its only error is a malformed pattern
			for _, folder := range folders {
				program, err := filepath.Rel(root, filepath.Dir(folder))
				if err != nil || !isFile(filepath.Join(folder, name+".txt")) || outside(root, program) {
					continue
				}
				commands = append(commands, fmt.Sprintf("go run ./%s %s", filepath.ToSlash(program), name))
			}
		}
		if len(commands) > 0 {
			return commands
		}
	}
	return nil
}

// outside is whether a program is a module below a chapter: go.work does not have it.
func outside(root, program string) bool {
	return filepath.Dir(program) != "." && isFile(filepath.Join(root, program, "go.mod"))
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// distance is how many letters one has to add, to leave out or to change to make b of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1) // from what was read of a to each beginning of b
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0] // in the row above, one to the left
		row[0] = i + 1
		for j := range len(b) {
			change := before
			if a[i] != b[j] {
				change++
			}
			before = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// where says, in a line, where the code and the section of a step are.
func (c Chapter) where(s Step) string {
	root, err := workspace.Root(".")
	code := c.Name + "/step_" + s.Name + ".go"
	if err != nil || !isFile(filepath.Join(root, code)) {
		return ""
	}
	if section := findSection(root, code, s.Name); section != "" {
		return fmt.Sprintf("(The code is in %s, and the text in %s.)\n", code, section)
	}
	return fmt.Sprintf("(The code is in %s.)\n", code)
}

var heading = regexp.MustCompile(`^##+ `)

// findSection returns page:line of the section about a step, in a page that shows its code: the one
// whose heading begins with its name, else the one that the code is in.
func findSection(root, code, step string) (found string) {
	pages, _ := filepath.Glob(filepath.Join(root, "docs", "*.md")) // its only error is a malformed pattern
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil || !strings.Contains(string(text), "<!-- code "+code+" ") {
			continue
		}
		last := 1
		for i, line := range strings.Split(string(text), "\n") {
			at := func(line int) string { return fmt.Sprintf("docs/%s:%d", filepath.Base(page), line) }
			switch {
			case strings.HasPrefix(line, "### "+step+": "):
				return at(i + 1)
			case heading.MatchString(line):
				last = i + 1
			case found == "" && strings.HasPrefix(line, "<!-- code "+code+" "):
				found = at(last)
			}
		}
	}
	return found
}
