// The commands on the pages.

package main

import (
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	shBlock   = regexp.MustCompile("(?ms)^ *```sh\n(.*?)^ *```$")
	goRunSpan = regexp.MustCompile("`(go run [^`\n]+)`")
	goRunStep = regexp.MustCompile(`(?m)^ *go run \./(\d\d-[\w/-]+)([^#\n]*)`)
	withValue = regexp.MustCompile(` -(kubeconfig|context|addr) \S+`)
)

// A command on a page that runs a program with steps names at most one step, and the program has
// this step: it has its transcript. A command is in a block, or in backquotes.
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
					if _, err := fs.Stat(tree, program+"/testdata/"+arg+".txt"); err != nil {
						t.Errorf("%s: %q names a step that %s does not have: %v", page, line, program, err)
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
