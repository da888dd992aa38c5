// The chain: what a chapter builds, a later one uses.

package main

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// chain are the folders of the course in the order in which a reader builds them.
var chain = []string{
	"01-deltafifo", "02-listwatch", "03-reflector", "04-indexer", "05-watchdog", "06-processor", "07-shared-informer",
	"08-factory", "08-factory/controller", "08-factory/kubernetes",
}

// ends are the packages that no later chapter uses, and the reason.
var ends = map[string]string{
	"05-watchdog/watchdog": "the smaller sibling of 07's informer: its page says what 07 takes over from it",

	"04-indexer/indexer/indexertest":    "for tests",
	"06-processor/processor/fanouttest": "for tests",
	"07-shared-informer/web/webtest":    "for tests",
	"08-factory/controller/survival":    "for tests",

	"07-shared-informer/parttwo": "the parts of Part II, which one may skip: a program that wants them names them",
	"07-shared-informer/store":   "a part of parttwo",
	"07-shared-informer/journal": "a part of parttwo",

	"07-shared-informer/xray":          "a tool, which a step of chapter 07 serves",
	"07-shared-informer/xray/recorder": "a part of the tool",
	"07-shared-informer/xray/view":     "a part of the tool",

	"08-factory/controller/notices": "the end of the chain: a controller, which its program runs",
}

// Every package that a chapter builds is imported by the code of a later one, and not only by its
// tests. (-v draws the chain.)
func TestNothingThatAChapterBuildsIsADeadEnd(t *testing.T) {
	users := usersOf(t, root(t))
	for _, pkg := range slices.Sorted(maps.Keys(users)) {
		t.Logf("%s <- %s", pkg, strings.Join(users[pkg], " "))
		for _, user := range users[pkg] {
			if room(user) < room(pkg) {
				t.Errorf("%s imports %s, which a later chapter builds", user, pkg)
			}
		}
		used, reason := isUsedLater(users, pkg), ends[pkg]
		if !used && reason == "" {
			t.Errorf("%s is a dead end: no code of a later chapter imports it", pkg)
		}
		if used && reason != "" {
			t.Errorf("%s is no end of the chain any more: a later chapter imports it", pkg)
		}
	}
	for pkg := range ends {
		if _, exists := users[pkg]; !exists {
			t.Errorf("there is no package %s", pkg)
		}
	}
}

func TestIsUsedLater(t *testing.T) {
	file := func(name string, imports ...string) *fstest.MapFile {
		text := "package " + name + "\n"
		for _, i := range imports {
			text += fmt.Sprintf("import %q\n", "example.com/informer/"+i)
		}
		return &fstest.MapFile{Data: []byte(text)}
	}
	users := usersOf(t, fstest.MapFS{
		"01-deltafifo/main.go":                file("main", "01-deltafifo/own"),
		"01-deltafifo/own/own.go":             file("own"),
		"01-deltafifo/tested/tested.go":       file("tested"),
		"01-deltafifo/behind/behind.go":       file("behind"),
		"01-deltafifo/front/front.go":         file("front", "01-deltafifo/behind"),
		"03-reflector/main.go":                file("main", "01-deltafifo/front"),
		"03-reflector/main_test.go":           file("main", "01-deltafifo/tested"),
		"08-factory/factory/factory.go":       file("factory"),
		"08-factory/controller/deep/er/go.go": file("er", "08-factory/factory"),
	})
	got := map[string]bool{}
	for pkg := range users {
		got[pkg] = isUsedLater(users, pkg)
	}
	want := map[string]bool{
		"01-deltafifo/own":              false,
		"01-deltafifo/tested":           false,
		"01-deltafifo/behind":           true,
		"01-deltafifo/front":            true,
		"08-factory/factory":            true,
		"08-factory/controller/deep/er": false,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("isUsedLater() differs (-want +got):\n%s", diff)
	}
}

// room returns the place of a folder in the chain.
func room(folder string) int {
	for i, name := range slices.Backward(chain) {
		if folder == name || strings.HasPrefix(folder, name+"/") {
			return i
		}
	}
	return -1
}

// isUsedLater says whether the code of a later chapter imports a package, or another package of its
// own chapter that is used later.
func isUsedLater(users map[string][]string, pkg string) bool {
	return slices.ContainsFunc(users[pkg], func(user string) bool {
		return room(user) > room(pkg) || user != pkg && isUsedLater(users, user)
	})
}

// usersOf returns the packages of the chapters that are no programs, and the folders whose code
// imports them. The imports of tests do not count.
func usersOf(t *testing.T, root fs.FS) map[string][]string {
	t.Helper()
	users := map[string][]string{}
	for _, file := range inChapters(t, root, "*.go") {
		if strings.HasSuffix(file, "_test.go") || strings.Contains(file, "/testdata/") {
			continue
		}
		parsed := parse(t, root, file)
		if folder := path.Dir(file); parsed.Name.Name != "main" && users[folder] == nil {
			users[folder] = []string{}
		}
		for _, spec := range parsed.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatalf("%s imports %s: %v", file, spec.Path.Value, err)
			}
			imported, ok := strings.CutPrefix(name, "example.com/informer/")
			if ok && chapterDir.MatchString(imported) && !slices.Contains(users[imported], path.Dir(file)) {
				users[imported] = append(users[imported], path.Dir(file))
			}
		}
	}
	return users
}
