// The commands start, hint, solution and reset.

package main

import (
	"cmp"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
)

// link matches a link to a page, or to another file of the course.
var link = regexp.MustCompile(`\[([^]]+)\]\(([^)]+)\)`)

// taskText returns the task of an exercise for a terminal. A link to code leads into its folder.
func (e exercise) taskText() string {
	return link.ReplaceAllStringFunc(e.task, func(all string) string {
		match := link.FindStringSubmatch(all)
		target := match[2]
		if !strings.Contains(target, ":") {
			target = path.Join(e.chapter, "practice", target)
			if !strings.HasPrefix(target, "docs/") {
				target = path.Join(e.folder(), target)
			}
		}
		return match[1] + " (" + target + ")"
	})
}

// printTask prints the task of an exercise, and where the reader works.
func (p *practice) printTask(e exercise) {
	p.printf("%s\n\nYours: %s\nWork in the folder %s, a copy of this clone. Open it by itself (code %[3]s):\n"+
		"an editor hides it in the clone. Nothing else of this clone changes.\n"+
		"Then:  scripts/practice.sh check (or: watch, hint)\n",
		e.taskText(), strings.Join(p.places(e), "\n       "), e.folder())
}

// start starts an exercise, and prints its task.
func (p *practice) start(e exercise) error {
	if p.isStarted(e) {
		if err := p.prepare(e); err != nil {
			return err
		}
		p.printf("%s is open already, and nothing has changed. "+
			"`scripts/practice.sh reset %[1]s` brings its start back.\n\n", e.name)
	} else if err := p.begin(e); err != nil {
		return err
	}
	p.printTask(e)
	return nil
}

// hint prints the next hint. The last hint comes again and again.
func (p *practice) hint(e exercise) error {
	n := min(p.state.Exercises[e.name].Hints+1, len(e.hints)) // of this hint
	p.printf("%s, hint %d of %d: %s\n", e.name, n, len(e.hints), e.hints[n-1])
	return p.remember(e, func(r *record) { r.Hints = n })
}

// solution shows the difference between the reader's code and the book's, and explains the book's.
func (p *practice) solution(e exercise) error {
	if err := p.prepare(e); err != nil {
		return err
	}
	yours, err := os.ReadFile(filepath.Join(p.place(e), e.file))
	if err != nil {
		return err
	}
	book, err := git(p.root, "show", p.state.Exercises[e.name].Book+":"+e.file)
	if err != nil {
		return err
	}
	difference, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		A:        difflib.SplitLines(string(yours)),
		B:        difflib.SplitLines(book),
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

// keptRef is the reference of what a reset has replaced.
func (e exercise) keptRef() string { return "refs/practice/reset/" + e.name }

// reset brings the start of an exercise back, in its folder. What the reader has there is kept as a
// commit first.
func (p *practice) reset(e exercise) error {
	if err := p.prepare(e); err != nil {
		return err
	}
	changed, err := p.changed(e)
	if err != nil {
		return err
	}
	place, kept := p.place(e), e.keptRef()
	if len(changed) > 0 {
		if err := p.keepChanges(e); err != nil {
			return err
		}
		p.printf("What you had is kept: git -C %s checkout %s -- . brings it back.\n", e.folder(), kept)
	}
	start, book, err := p.startCommit(e)
	if err != nil {
		return err
	}
	err = p.remember(e, func(r *record) { r.Start, r.Book, r.Passed = start, book, false })
	if err != nil {
		return err
	}
	gitDir, err := findGit(place)
	if err != nil {
		return err
	}
	for _, name := range []string{"index.lock", "HEAD.lock"} { // of a reset that was killed
		_ = os.Remove(filepath.Join(gitDir, name))
	}
	for _, args := range [][]string{
		{"checkout", "--quiet", "--force", "--detach", start}, {"clean", "--quiet", "--force", "-d"},
	} {
		if _, err := git(place, args...); err != nil {
			return err
		}
	}
	stays := ""
	if p.state.Exercises[e.name].Solved {
		stays = " It stays solved."
	}
	p.printf("%s has the start of %s again.%s\n", e.folder(), e.name, stays)
	return nil
}

// keepChanges keeps what is in the folder of an exercise as a commit. Its parents are the start, and
// what was kept before.
func (p *practice) keepChanges(e exercise) error {
	start := p.state.Exercises[e.name].Start
	parents := []string{start}
	if before := gitLine(p.root, "rev-parse", "--verify", "--quiet", e.keptRef()); before != "" {
		parents = append(parents, before)
	}
	commit, err := commitTree(p.place(e), "Before a reset of the exercise "+e.name, parents, []gitStep{
		{args: []string{"read-tree", start}}, {args: []string{"add", "--all"}},
	})
	if err != nil {
		return err
	}
	_, err = git(p.root, "update-ref", e.keptRef(), commit)
	return err
}
