package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// An exercise is practice/NAME.md of a chapter, and what practice/answers/NAME.md
// keeps from the reader.
type exercise struct {
	name, chapter, title string
	kind                 string   // build or fix
	task                 string   // the exercise's page, without what is checked
	checks               []string // commands, as a reader could give them
	needs                string   // a cluster, or nothing

	file        string   // whose code changes, from the root
	empty, drop []string // build: functions whose bodies go, and declarations that go with them
	plant       string   // fix: the difference that brings the bug in
	failsWith   string   // what a check of the exercise says right after its start
	hints       []string
	why         string
	wrong       []string // tempting answers, as differences to the book's
}

func filter(all []exercise, keep func(exercise) bool) []exercise {
	return slices.DeleteFunc(slices.Clone(all), func(e exercise) bool { return !keep(e) })
}

// load reads the exercises of all chapters.
func load(root string) (all []exercise, err error) {
	files, err := filepath.Glob(filepath.Join(root, "[0-9][0-9]-*", "practice", "*.md"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		e, err := parse(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, e)
	}
	slices.SortStableFunc(all, func(a, b exercise) int {
		return strings.Compare(a.chapter+a.kind, b.chapter+b.kind)
	})
	return all, nil
}

var (
	fence   = regexp.MustCompile("(?ms)^```[a-z]+\n(.*?)^```$")
	aHint   = regexp.MustCompile(`(?m)^\d\. `)
	heading = regexp.MustCompile(`(?m)^## `)
)

func parse(file string) (e exercise, err error) {
	practice, name := filepath.Split(file)
	page, err := os.ReadFile(file)
	answers, answersErr := os.ReadFile(filepath.Join(practice, "answers", name))
	if err := errors.Join(err, answersErr); err != nil {
		return e, err
	}
	e.name, e.chapter = strings.TrimSuffix(name, ".md"), filepath.Base(filepath.Dir(filepath.Clean(practice)))
	e.task = strings.TrimSpace(heading.Split(string(page), 2)[0])
	e.title = strings.TrimPrefix(strings.SplitN(e.task, "\n", 2)[0], "# ")
	texts, blocks := map[string]string{}, map[string]string{} // of sections
	for _, section := range append(heading.Split(string(page), -1), heading.Split(string(answers), -1)...) {
		title, text, _ := strings.Cut(section, "\n")
		texts[title] = strings.TrimSpace(text)
		if found := fence.FindStringSubmatch(text); found != nil {
			blocks[title] = found[1]
		}
		if strings.HasPrefix(title, "Wrong: ") {
			e.wrong = append(e.wrong, blocks[title])
		}
	}
	e.checks = strings.Split(strings.TrimSpace(blocks["Check"]), "\n")
	if strings.Contains(texts["Check"], "needs a cluster") {
		e.needs = "(needs a cluster)"
	}
	for _, hint := range aHint.Split(texts["Hints"], -1)[1:] {
		e.hints = append(e.hints, strings.Join(strings.Fields(hint), " "))
	}
	e.kind = map[bool]string{true: "build", false: "fix"}[blocks["Start"] == ""]
	e.why, e.failsWith, e.plant = texts["Why"], strings.TrimSpace(blocks["Fails with"]), blocks["Start"]
	// "Empty `f` and `g` of `file`; drop `h`", or "In `file`:" and a difference
	begin, _, _ := strings.Cut(texts["Start"], "```")
	begin, dropped, _ := strings.Cut(begin, "; drop ")
	if names := quoted(begin); len(names) > 0 {
		e.empty, e.file, e.drop = names[:len(names)-1], names[len(names)-1], quoted(dropped)
	}
	if e.checks[0] == "" || e.plant+strings.Join(e.empty, "") == "" || e.failsWith == "" || e.why == "" ||
		len(e.hints) != 3 || len(e.wrong) < 2 {
		return e, errors.New("a part is missing: Check, Start, Fails with, three Hints, Why, two of Wrong")
	}
	return e, nil
}

func quoted(text string) (names []string) {
	for _, found := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(text, -1) {
		names = append(names, found[1])
	}
	return names
}

// The states of an exercise. The commit that has the book's code is kept in git,
// under a reference that says which of the two others it is.
const (
	untouched = ""
	open      = "open"
	solved    = "solved"
)

func (e exercise) ref(state string) string { return "refs/practice/" + state + "/" + e.name }

func (e exercise) state(root string) string {
	refs, _ := git(root, "for-each-ref", "--format=%(refname:lstrip=2)", e.ref("*"))
	state, _, _ := strings.Cut(refs, "/")
	return state
}

func (e exercise) setState(root, to string) (err error) {
	from := e.state(root)
	if to != untouched {
		_, err = git(root, "update-ref", e.ref(to), bookRef(root))
	}
	if from != untouched && from != to && err == nil {
		_, err = git(root, "update-ref", "-d", e.ref(from))
	}
	return err
}

// bookRef names a commit that has the book's code: the one that was there when the
// first exercise was started.
func bookRef(root string) string {
	if refs, _ := git(root, "for-each-ref", "--format=%(refname)", "refs/practice"); refs != "" {
		return strings.Fields(refs)[0] // all of them are at that commit
	}
	return "HEAD"
}

// git returns what a command of git prints.
func git(dir string, args ...string) (string, error) {
	command := exec.Command("git", args...)
	command.Dir = dir
	text, err := command.Output()
	if failed := new(exec.ExitError); errors.As(err, &failed) {
		err = fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(string(failed.Stderr)))
	}
	return string(text), err
}
