// The folder of an exercise: a git worktree with the book's code, where the reader works.

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"example.com/informer/scripts/harness/workspace"
)

// folder returns the folder of an exercise, from the root.
func (e exercise) folder() string { return workspace.PracticeFolder + "/" + e.name }

// place returns the path of the folder of an exercise.
func (p *practice) place(e exercise) string { return filepath.Join(p.root, e.folder()) }

// isStarted reports whether the folder of an exercise is there. It appears in one step.
func (p *practice) isStarted(e exercise) bool {
	_, err := os.Stat(p.place(e))
	return err == nil
}

// begin makes the folder of an exercise. It is made elsewhere, and then moved to its place.
func (p *practice) begin(e exercise) error {
	start, book, err := p.startCommit(e)
	if err != nil {
		return err
	}
	p.forgetDeleted()
	fresh, err := p.addWorktree(e, start, "--detach")
	if err != nil {
		return err
	}
	err = p.remember(e, func(r *record) { r.Start, r.Book, r.Hints, r.Passed = start, book, 0, false })
	if err != nil {
		return err
	}
	_, err = git(p.root, "worktree", "move", "--force", "--force", fresh, p.place(e))
	return err
}

// addWorktree makes a worktree for an exercise in .practice/.new, and returns its path. What a command
// that was killed has left there, nobody has worked in.
func (p *practice) addWorktree(e exercise, commit, how string) (fresh string, err error) {
	fresh = filepath.Join(p.root, workspace.PracticeFolder, ".new", e.name)
	if err := os.RemoveAll(fresh); err != nil {
		return "", err
	}
	_, err = git(p.root, "worktree", "add", "--force", "--force", "--quiet", "--detach", how, fresh, commit)
	return fresh, err
}

// forgetDeleted makes git forget the folders of exercises that the reader has deleted.
func (p *practice) forgetDeleted() {
	list, _ := git(p.root, "worktree", "list", "--porcelain") // without a list, there is nothing to forget
	for line := range strings.Lines(list) {
		place, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "worktree ")
		if !ok || filepath.Base(filepath.Dir(place)) != workspace.PracticeFolder {
			continue
		}
		if _, err := os.Stat(place); errors.Is(err, os.ErrNotExist) {
			_, _ = git(p.root, "worktree", "remove", "--force", "--force", place) // git gc does it later
		}
	}
}

// startCommit makes the commit that an exercise begins with: the book's, with the start of the
// exercise. It has no parent, which would show the answer. It returns the book's commit, too.
func (p *practice) startCommit(e exercise) (start, book string, err error) {
	if book, err = p.bookCommit(); err != nil {
		return "", "", err
	}
	text, err := git(p.root, "show", book+":"+e.file)
	if err != nil {
		return "", "", err
	}
	if text, err = e.begin(text); err != nil {
		return "", "", fmt.Errorf("%s: %w", e.file, err)
	}
	blob, err := gitWith(p.root, text, "", "hash-object", "-w", "--stdin")
	if err != nil {
		return "", "", err
	}
	entry := fmt.Sprintf("100644 %s\t%s\n", strings.TrimSpace(blob), e.file)
	start, err = commitTree(p.root, "The start of the exercise "+e.name, nil, []gitStep{
		{args: []string{"read-tree", book}},
		{args: []string{"update-index", "--index-info"}, input: entry},
	})
	if err == nil {
		p.state.Book = book
	}
	return start, book, err
}

// A gitStep is a git command that changes an index.
type gitStep struct {
	args  []string
	input string
}

// commitTree returns a commit of what these commands make in an index of their own.
func commitTree(dir, message string, parents []string, steps []gitStep) (commit string, err error) {
	temporary, err := os.MkdirTemp("", "practice")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(temporary)
	index, output := filepath.Join(temporary, "index"), ""
	for _, step := range append(steps, gitStep{args: []string{"write-tree"}}) {
		if output, err = gitWith(dir, step.input, index, step.args...); err != nil {
			return "", err
		}
	}
	args := []string{"commit-tree", strings.TrimSpace(output), "-m", message}
	for _, parent := range parents {
		args = append(args, "-p", parent)
	}
	commit, err = git(dir, args...)
	return strings.TrimSpace(commit), err
}

// prepare makes sure that git knows the folder of an exercise, and the commit that it began with: the
// clone may have been moved, copied or pruned since then. It changes none of the reader's files. The
// caller is alone.
func (p *practice) prepare(e exercise) error {
	if !p.isStarted(e) {
		return fmt.Errorf("%s is not started: scripts/practice.sh start %[1]s", e.name)
	}
	if r := p.state.Exercises[e.name]; !hasCommit(p.root, r.Start) || !hasCommit(p.root, r.Book) {
		start, book, err := p.startCommit(e)
		if err != nil {
			return err
		}
		if err := p.remember(e, func(r *record) { r.Start, r.Book = start, book }); err != nil {
			return err
		}
	}
	place := p.place(e)
	link := filepath.Join(place, ".git") // a file that says where git has the rest of the worktree
	info, err := os.Lstat(link)
	switch {
	case p.isLinked(place):
		return nil
	case err == nil && info.IsDir():
		return fmt.Errorf("%s has a repository of its own: move it away, and try again", e.folder())
	}
	text, _ := os.ReadFile(link)
	old, _ := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
	if _, err := os.Stat(old); errors.Is(err, os.ErrNotExist) { // the clone has moved
		_, _ = git(p.root, "worktree", "repair", place)
	}
	if p.isLinked(place) {
		return nil
	}
	// A worktree without files is made, and its link replaces that of the reader's folder.
	fresh, err := p.addWorktree(e, p.state.Exercises[e.name].Start, "--no-checkout")
	if err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(fresh, ".git"), link); err != nil {
		return err
	}
	if _, err := git(p.root, "worktree", "repair", place); err != nil {
		return err
	}
	_, err = git(place, "reset", "--quiet")
	return errors.Join(err, os.RemoveAll(fresh))
}

// isLinked reports whether a folder is a worktree of this clone, and not of one that it was copied from.
func (p *practice) isLinked(place string) bool {
	output, err := git(place, "rev-parse", "--path-format=absolute", "--show-toplevel", "--git-common-dir", "--git-dir")
	lines := strings.Split(output, "\n")
	if err != nil || len(lines) < 3 {
		return false
	}
	back, err := os.ReadFile(filepath.Join(lines[2], "gitdir"))
	common := gitLine(p.root, "rev-parse", "--path-format=absolute", "--git-common-dir")
	return err == nil && isSame(lines[0], place) && isSame(lines[1], common) &&
		isSame(strings.TrimSpace(string(back)), filepath.Join(place, ".git"))
}

// isSame reports whether two paths lead to the same file.
func isSame(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// changed returns the files in the folder of an exercise that are not as at its start, also new ones.
// Only those that match the patterns count, if there are some.
func (p *practice) changed(e exercise, patterns ...string) (names []string, err error) {
	patterns = append([]string{"--"}, patterns...)
	start := p.state.Exercises[e.name].Start
	differ, err := git(p.place(e), append([]string{"diff", "--name-only", "-z", "--no-renames", start}, patterns...)...)
	if err != nil {
		return nil, err
	}
	added, err := git(p.place(e),
		append([]string{"ls-files", "-z", "--others", "--exclude-standard"}, patterns...)...)
	return strings.FieldsFunc(differ+added, func(r rune) bool { return r == 0 }), err
}
