// The order of the steps: in a program, on its pages, and in the texts that the course comes from.

package main

import (
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	stepName    = regexp.MustCompile(`\bName: "(\w+)", Title: `)
	stepHeading = regexp.MustCompile(`(?m)^### (\w+): `)
	pageLink    = regexp.MustCompile(`\]\(([\w-]+\.md)\)`)
)

// stepsOf are the steps of a chapter's program, in their order.
func stepsOf(t *testing.T, root fs.FS, chapter string) (steps []string) {
	t.Helper()
	for _, name := range stepName.FindAllStringSubmatch(readFile(t, root, chapter+"/main.go"), -1) {
		steps = append(steps, name[1])
	}
	return steps
}

// Chapters 02 and 03 run their steps in the order in which their pages explain them (the contents page
// has the order of the pages), and begin as the old texts do: LIST and WATCH before the clients, and
// the delete that is lost before the store that saves it.
func TestStepsRunInTheOrderOfTheirSections(t *testing.T) {
	tree := root(t)
	for chapter, first := range map[string][]string{
		"02-listwatch": {"list", "watch"},
		"03-reflector": {"lost", "pour"},
	} {
		steps := stepsOf(t, tree, chapter)
		if !slices.Equal(steps[:len(first)], first) {
			t.Errorf("%s begins with %q, want %q", chapter, steps[:len(first)], first)
		}
		var sections []string
		for _, link := range pageLink.FindAllStringSubmatch(readFile(t, tree, "docs/README.md"), -1) {
			if !strings.HasPrefix(link[1], chapter) {
				continue
			}
			for _, heading := range stepHeading.FindAllStringSubmatch(readFile(t, tree, "docs/"+link[1]), -1) {
				if slices.Contains(steps, heading[1]) {
					sections = append(sections, heading[1])
				}
			}
		}
		if !slices.Equal(steps, sections) {
			t.Errorf("%s runs its steps in the order\n%q, and its pages explain them in the order\n%q",
				chapter, steps, sections)
		}
	}
}

// The first event of a watch is ADDED, for a pod that is there already, as in the old texts.
func TestTheWatchBeginsWithWhatExists(t *testing.T) {
	text := readFile(t, root(t), "02-listwatch/testdata/watch.txt")
	_, output, _ := strings.Cut(text, "\n$ go run ./02-listwatch watch\n")
	first, _, _ := strings.Cut(output, "\n")
	if !strings.HasPrefix(first, "ADDED : ") || !strings.HasSuffix(first, " : Running") {
		t.Errorf("02-listwatch watch begins with %q, want ADDED and a phase, before any command", first)
	}
}

var (
	shBlock   = regexp.MustCompile("(?ms)^ *```sh\n(.*?)^ *```$")
	goRunStep = regexp.MustCompile(`(?m)^ *go run \./(\d\d-[\w/-]+)([^#\n]*)`)
	withValue = regexp.MustCompile(` -(kubeconfig|context|addr) \S+`)
)

// A command of a page that runs a step names one step, which the program has.
func TestCommandsNameOneStepThatExists(t *testing.T) {
	tree := root(t)
	pages, err := fs.Glob(tree, "docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages, "README.md") {
		for _, block := range shBlock.FindAllString(readFile(t, tree, page), -1) {
			for _, command := range goRunStep.FindAllStringSubmatch(block, -1) {
				program, args := command[1], strings.Fields(withValue.ReplaceAllString(command[2], ""))
				if _, err := fs.Stat(tree, program+"/testdata"); err != nil {
					continue // it has no steps
				}
				args = slices.DeleteFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "-") })
				if len(args) > 1 || len(args) == 1 && !slices.Contains(stepsOf(t, tree, program), args[0]) {
					t.Errorf("%s: %q names %q, want one step of %s", page, strings.TrimSpace(command[0]), args, program)
				}
			}
		}
	}
}
