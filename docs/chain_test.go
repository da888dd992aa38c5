// The chain: what a chapter builds, a later one uses.

package main

import (
	"fmt"
	"go/ast"
	"io/fs"
	"maps"
	"path"
	"regexp"
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
	"07-shared-informer/informertest":   "for tests",
	"08-factory/controller/survival":    "for tests",

	"07-shared-informer/parttwo": "the parts of Part II, which one may skip: a program that wants them names them",
	"07-shared-informer/store":   "a part of parttwo",

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
			t.Errorf("%s is not an end of the chain any more: a later chapter imports it", pkg)
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

var chapterOrScript = regexp.MustCompile(`^([0-9][0-9]-|scripts(/|$))`)

// What a chapter may use of the package that protects web servers. The rest of it is for tools.
var webOfChapters = []string{"Addr", "DefaultAddr", "Serve"}

// Chapters stand on scripts/harness, and the tools of docs stand on both. Tests count, too.
func TestArrowsPointDown(t *testing.T) {
	for _, problem := range upwards(t, root(t)) {
		t.Error(problem)
	}
}

func TestUpwards(t *testing.T) {
	const main, web = "package main\n", `import "example.com/informer/scripts/harness/web"` + "\n"
	for name, test := range map[string]struct {
		file, text string
		wrong      bool
	}{
		"a chapter on the harness": {"03-a/a.go", `import "example.com/informer/scripts/harness/must"`, false},
		"a chapter that serves":    {"03-a/a.go", web + "var _ = web.Serve", false},
		"a controller on a cluster": {
			"08-factory/kubernetes/a.go", `import "example.com/informer/scripts/cluster/x"`, false,
		},
		"a chapter on a tool":           {"03-a/a_test.go", `import "example.com/informer/docs/xray/server"`, true},
		"a chapter on the exercises":    {"03-a/a.go", `import "example.com/informer/scripts/harness/practice"`, true},
		"a chapter on a cluster":        {"03-a/a.go", `import "example.com/informer/scripts/cluster/x"`, true},
		"a chapter with a tool's token": {"03-a/a.go", web + "var _ = web.NewToken", true},
		"the harness on a chapter":      {"scripts/harness/a/a.go", `import "example.com/informer/03-a/x"`, true},
		"the harness on a tool":         {"scripts/harness/a/a.go", `import "example.com/informer/docs/book"`, true},
	} {
		got := upwards(t, fstest.MapFS{
			test.file: {Data: []byte(main + test.text)},
		})
		if wrong := len(got) > 0; wrong != test.wrong {
			t.Errorf("%s: the problems are %q, want some: %t", name, got, test.wrong)
		}
	}
}

// upwards returns the imports that point to what stands above.
func upwards(t *testing.T, root fs.FS) (problems []string) {
	t.Helper()
	report := func(file, format string, args ...any) {
		problems = append(problems, file+" "+fmt.Sprintf(format, args...))
	}
	for _, file := range inFolders(t, root, chapterOrScript, "*.go") {
		if strings.Contains(file, "/testdata/") {
			continue
		}
		parsed := parse(t, root, file)
		isScript := strings.HasPrefix(file, "scripts/")
		for _, spec := range parsed.Imports {
			imported, ok := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), "example.com/informer/")
			switch {
			case !ok:
			case strings.HasPrefix(imported, "docs/"), imported == "docs":
				report(file, "imports %s, a tool of the book", imported)
			case isScript && !strings.HasPrefix(imported, "scripts/"):
				report(file, "imports %s, a package of a chapter", imported)
			case isScript || chapterDir.MatchString(imported): // see TestNothingThatAChapterBuildsIsADeadEnd
			case strings.HasPrefix(imported, "scripts/cluster/") && strings.HasPrefix(file, "08-factory/kubernetes/"):
			case !strings.HasPrefix(imported, "scripts/harness/"), path.Base(imported) == "practice":
				report(file, "imports %s", imported)
			case imported == "scripts/harness/web":
				for _, name := range selected(parsed, "web") {
					if !slices.Contains(webOfChapters, name) {
						report(file, "uses web.%s, want only %q", name, webOfChapters)
					}
				}
			}
		}
	}
	return problems
}

// selected returns the names that a file uses of a package.
func selected(file *ast.File, pkg string) (names []string) {
	for n := range ast.Preorder(file) {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && x.Name == pkg {
				names = append(names, s.Sel.Name)
			}
		}
	}
	return names
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

// isUsedLater reports whether the code of a later chapter imports a package, or another package of its
// own chapter that is used later.
func isUsedLater(users map[string][]string, pkg string) bool {
	return slices.ContainsFunc(users[pkg], func(user string) bool {
		return room(user) > room(pkg) || user != pkg && isUsedLater(users, user)
	})
}

// usersOf returns the packages of the chapters that are not programs, and the folders whose code
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
