// The order of steps: in a program, on its pages, and in the texts that the course comes from; and
// the order of the exercises.

package main

import (
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	stepName    = regexp.MustCompile(`\bName: "(\w+)", Title: `)
	stepHeading = regexp.MustCompile(`(?m)^### (\w+): `)
	pageLink    = regexp.MustCompile(`\]\(([\w-]+\.md)\)`)
)

// stepsOf returns the steps of a chapter's program, in the program's order.
func stepsOf(t *testing.T, root fs.FS, chapter string) (steps []string) {
	t.Helper()
	for _, match := range stepName.FindAllStringSubmatch(readFile(t, root, chapter+"/main.go"), -1) {
		steps = append(steps, match[1])
	}
	return steps
}

// sectionsOf returns the steps that have a section on a page of the chapter. The order of the pages
// is the one of the contents page.
func sectionsOf(t *testing.T, root fs.FS, chapter string, steps []string) (sections []string) {
	t.Helper()
	for _, link := range pageLink.FindAllStringSubmatch(readFile(t, root, "docs/README.md"), -1) {
		page := link[1]
		if !strings.HasPrefix(page, chapter) {
			continue
		}
		for _, heading := range stepHeading.FindAllStringSubmatch(readFile(t, root, "docs/"+page), -1) {
			if slices.Contains(steps, heading[1]) {
				sections = append(sections, heading[1])
			}
		}
	}
	return sections
}

// Chapters 01 to 03 run their steps in the order in which their pages explain them. They begin as
// the old texts do: with toy pods; with LIST and WATCH before the clients; and with the lost delete
// before the store that prevents it.
func TestStepsRunInTheOrderOfTheirSections(t *testing.T) {
	tree := root(t)
	for chapter, first := range map[string][]string{
		"01-deltafifo": {"list", "deltas", "callbacks"},
		"02-listwatch": {"list", "watch"},
		"03-reflector": {"lost", "pour"},
	} {
		steps := stepsOf(t, tree, chapter)
		if len(steps) < len(first) {
			t.Fatalf("%s/main.go has the steps %q, want at least %d", chapter, steps, len(first))
		}
		if got := steps[:len(first)]; !slices.Equal(got, first) {
			t.Errorf("%s begins with the steps %q, want %q", chapter, got, first)
		}
		sections := sectionsOf(t, tree, chapter, steps)
		if chapter == "01-deltafifo" {
			sections = append(sections, "informer") // the prologue explains it
		}
		if !slices.Equal(steps, sections) {
			t.Errorf("%s runs its steps in the order\n%q, and its pages explain them in the order\n%q",
				chapter, steps, sections)
		}
	}
}

var (
	exerciseLink = regexp.MustCompile(`\]\(\.\./(\d\d-[\w-]+/practice/[\w-]+\.md)\)`)
	exerciseRow  = regexp.MustCompile(`(?m)^\| \[[\w-]+\]\(\.\./(\d\d-[\w-]+/practice/[\w-]+\.md)\)`)
)

// In each table of the page of exercises, the order is the one in which the pages of the book link
// to the exercises.
func TestExercisesAreInTheOrderOfTheBook(t *testing.T) {
	const list = "practice.md"
	tree := root(t)
	rank := map[string]int{}
	for _, link := range pageLink.FindAllStringSubmatch(readFile(t, tree, "docs/README.md"), -1) {
		if link[1] == list {
			continue
		}
		for _, exercise := range exerciseLink.FindAllStringSubmatch(readFile(t, tree, "docs/"+link[1]), -1) {
			if _, known := rank[exercise[1]]; !known {
				rank[exercise[1]] = len(rank)
			}
		}
	}
	rows := 0
	for _, table := range strings.Split(readFile(t, tree, "docs/"+list), "\n\n") {
		var got []string
		for _, row := range exerciseRow.FindAllStringSubmatch(table, -1) {
			got = append(got, row[1])
		}
		rows += len(got)
		want := slices.Clone(got)
		slices.SortStableFunc(want, func(a, b string) int { return rank[a] - rank[b] })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("a table of docs/%s is not in the order of the book (-want +got):\n%s", list, diff)
		}
	}
	if rows == 0 {
		t.Errorf("docs/%s has no tables of exercises", list)
	}
}

// The first event of the watch is ADDED, for a pod that already exists, as in the old texts.
func TestTheWatchBeginsWithWhatExists(t *testing.T) {
	const file, command = "02-listwatch/testdata/watch.txt", "\n$ go run ./02-listwatch watch\n"
	_, output, found := strings.Cut(readFile(t, root(t), file), command)
	if !found {
		t.Fatalf("%s has no line %q", file, strings.TrimSpace(command))
	}
	first, _, _ := strings.Cut(output, "\n")
	if !strings.HasPrefix(first, "ADDED : ") || !strings.HasSuffix(first, " : Running") {
		t.Errorf("the output of 02-listwatch watch begins with %q, want \"ADDED : … : Running\"", first)
	}
}

var (
	shBlock   = regexp.MustCompile("(?ms)^ *```sh\n(.*?)^ *```$")
	goRunSpan = regexp.MustCompile("`(go run [^`\n]+)`")
	goRunStep = regexp.MustCompile(`(?m)^ *go run \./(\d\d-[\w/-]+)([^#\n]*)`)
	withValue = regexp.MustCompile(` -(kubeconfig|context|addr) \S+`)
)

// A command on a page that runs a program with steps names at most one step, and the program has
// this step. A command is in a block, or in backquotes.
func TestCommandsNameOneStepThatExists(t *testing.T) {
	tree := root(t)
	for _, page := range pages(t, tree) {
		text := readFile(t, tree, page)
		for _, commands := range append(shBlock.FindAllString(text, -1), submatches(goRunSpan, text)...) {
			for _, command := range goRunStep.FindAllStringSubmatch(commands, -1) {
				line, program, args := strings.TrimSpace(command[0]), command[1], arguments(command[2])
				if _, err := fs.Stat(tree, program+"/testdata"); err != nil {
					continue // it has no steps
				}
				if len(args) > 1 {
					t.Errorf("%s: %q names the steps %q, want one at most", page, line, args)
				}
				for _, arg := range args {
					if steps := stepsOf(t, tree, program); !slices.Contains(steps, arg) {
						t.Errorf("%s: %q names the step %q, want one of %q", page, line, arg, steps)
					}
				}
			}
		}
	}
}

// arguments returns the arguments of a command line that are not flags and not the values of flags.
func arguments(commandLine string) []string {
	fields := strings.Fields(withValue.ReplaceAllString(commandLine, ""))
	return slices.DeleteFunc(fields, func(field string) bool { return strings.HasPrefix(field, "-") })
}
