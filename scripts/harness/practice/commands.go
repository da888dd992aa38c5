// The commands start, hint and solution.

package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
)

// link matches a link to a page of the course.
var link = regexp.MustCompile(`\[([^]]+)\]\((?:\.\./)*([^)]+)\)`)

// printTask prints the task of an exercise, and where the reader's code goes.
func (p *practice) printTask(e exercise) {
	p.printf("%s\n\nYours: %s\nThen:  scripts/practice.sh check (or: watch, hint)\n"+
		"Do not look at git diff, or at your editor's marks of changed lines: they show the answer.\n",
		link.ReplaceAllString(e.task, "$1 ($2)"), strings.Join(p.places(e), "\n       "))
}

// start starts an exercise, and prints its task.
func (p *practice) start(e exercise) error {
	if p.state(e) == open {
		p.printf("%s is open already, and nothing has changed. "+
			"`scripts/practice.sh reset %[1]s` puts the book's code back, then you can start it anew.\n\n", e.name)
		p.printTask(e)
		return nil
	}
	if err := p.begin(e); err != nil {
		return err
	}
	p.printTask(e)
	return nil
}

// begin changes the file of an exercise. It replaces the declarations that the exercise is about,
// and nothing else.
func (p *practice) begin(e exercise) error {
	v, err := e.versions(p.root)
	if err != nil {
		return err
	}
	return p.replace(e, v, v.started, v.names, open)
}

// startChapter starts the exercises of a chapter that are not started yet and were never solved,
// except for those that need a function of another one.
func (p *practice) startChapter(chapter []exercise) error {
	var later []string
	for _, e := range chapter {
		text, err := os.ReadFile(filepath.Join(p.root, e.file))
		if err != nil {
			return err
		}
		if err := syntaxError(e.file, string(text)); err != nil { // before the first one is started
			return err
		}
	}
	for _, e := range p.rest(chapter) {
		other, _, err := p.openAtSamePlace(e)
		if err != nil {
			return err
		}
		if other != "" {
			later = append(later, fmt.Sprintf("%s (after %s)", e.name, other))
			continue
		}
		if err := p.begin(e); err != nil {
			return err
		}
	}
	opened := p.inState(chapter, open)
	if len(opened) == 0 {
		return fmt.Errorf("all exercises of %s are solved", chapter[0].chapter)
	}
	for _, e := range opened {
		p.printf("Open: %s\n      %s\n", describe(e), strings.Join(p.places(e), "\n      "))
	}
	if len(later) > 0 {
		p.printf("Later, because they are about the same functions: %s\n", strings.Join(later, ", "))
	}
	p.printf("For a check of one of them, the others have the book's code. Begin with %s:\n\n", opened[0].name)
	p.printTask(opened[0])
	return nil
}

// hint prints the next hint. The last hint comes again and again.
func (p *practice) hint(e exercise) error {
	n := min(int(configNumber(p.root, e.hintsKey()))+1, len(e.hints)) // of this hint
	p.printf("%s, hint %d of %d: %s\n", e.name, n, len(e.hints), e.hints[n-1])
	_, err := git(p.root, "config", "--local", e.hintsKey(), strconv.Itoa(n))
	return err
}

// solution shows the difference between the reader's code and the book's, and explains the book's.
func (p *practice) solution(e exercise) error {
	v, err := e.versions(p.root)
	if err != nil {
		return err
	}
	if p.state(e) == untouched {
		return fmt.Errorf("%s was not started: scripts/practice.sh start %[1]s", e.name)
	}
	difference, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		A:        difflib.SplitLines(v.mine),
		B:        difflib.SplitLines(transplant(v.mine, v.book, v.names)),
		FromFile: "yours",
		ToFile:   "the book's",
		Context:  3,
	})
	if err != nil {
		return err
	}
	p.printf("%s\n%s\n", cmp.Or(difference, "Your code is the book's.\n"), e.why)
	return nil
}
