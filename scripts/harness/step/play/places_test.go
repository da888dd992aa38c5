// Tests of where a step is: in another program; and where its code and its text are.

package play

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/step/manifest"
)

// inWorkspace makes a workspace of these files, and changes into it.
func inWorkspace(t *testing.T, files map[string]string) {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		file := filepath.Join(root, name)
		must.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
	t.Chdir(root)
}

func TestAStepOfAnotherName(t *testing.T) {
	inWorkspace(t, map[string]string{
		"go.work":               "",
		"99-toy/outside/go.mod": "",
		"docs/steps.json": `{"98-old": [{"name": "older"}, {"name": "queue"}], "99-toy/sub": [{"name": "queue"}],
			"99-toy/outside": [{"name": "outside"}]}`,
	})
	for name, hint := range map[string]string{
		"queue":   ", but there is go run ./98-old queue and go run ./99-toy/sub queue",
		"older":   ", but there is go run ./98-old older",
		"nothing": "",
		"outside": "",
	} {
		code, _, stderr := run(t.Context(), toy(), "", name)
		wantCode(t, code, exitUsage, stderr)
		want := "99-toy: there is no step \"" + name + "\"" + hint + "\nthe steps are: one, two\n"
		if stderr != want {
			t.Errorf("%s: stderr is %q\nwant %q", name, stderr, want)
		}
	}
	t.Chdir(t.TempDir()) // outside of the workspace, where the program knows no others
	_, _, stderr := run(t.Context(), toy(), "", "queue")
	if want := "99-toy: there is no step \"queue\"\nthe steps are: one, two\n"; stderr != want {
		t.Errorf("outside of the workspace: stderr is %q, want %q", stderr, want)
	}
}

// -list -update writes the steps into the manifest, and keeps those of other programs.
func TestManifest(t *testing.T) {
	inWorkspace(t, map[string]string{
		"go.work": "", "docs/steps.json": `{"98-old": [{"name": "old", "title": "an old one"}]}`,
	})
	c := toy()
	c.Files = fstest.MapFS{
		"testdata/one.txt": {Data: []byte("$ kubectl run web\n$ go run ./99-toy one\nun\n")},
		"testdata/two.txt": {Data: []byte("$ kubectl run web\n$ go run ./99-toy two\ndeux\n> an action\n")},
	}
	workspace := os.DirFS(".")
	if err := c.CheckManifest(workspace); err == nil {
		t.Error("CheckManifest() = nil before the steps are written, want an error")
	}
	code, stdout, stderr := run(t.Context(), c, "", "-list", "-update")
	wantCode(t, code, exitOK, stderr)
	wantContains(t, "stdout", stdout, "docs/steps.json")
	must.NoError(t, c.CheckManifest(workspace))
	got, err := manifest.Read(workspace)
	must.NoError(t, err)
	want := manifest.Manifest{
		"98-old": {{Name: "old", Title: "an old one"}},
		"99-toy": {{Name: "one", Title: "the first"}, {Name: "two", Title: "the second", HasCommands: true}},
	}
	if got.String() != want.String() {
		t.Errorf("the manifest is\n%s\nwant\n%s", got, want)
	}
	c.Steps[0].Title = "another"
	if err := c.CheckManifest(workspace); err == nil {
		t.Error("CheckManifest() = nil after a title has changed, want an error")
	}
}

func TestWhereAStepIs(t *testing.T) {
	const code = "\n<!-- code 99-toy/step_%.go step% -->\n"
	shows := func(name string) string { return strings.ReplaceAll(code, "%", name) }
	for name, test := range map[string]struct{ page, want string }{
		"a page with its code": {
			"# Toy\n\n### one: the first\n" + shows("two") + shows("one") + shows("one"),
			"(The code is in 99-toy/step_one.go, and the text in docs/99-toy.md:7.)\n",
		},
		"a page without it": {
			"# Toy\n\n### one: the first\n",
			"(The code is in 99-toy/step_one.go.)\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			other := "# Old\n\n### one: of another chapter\n" + strings.ReplaceAll(shows("one"), "99-", "98-")
			inWorkspace(t, map[string]string{
				"go.work": "", "99-toy/step_one.go": "package main\n",
				"docs/98-toy.md": other, "docs/99-toy.md": test.page,
			})
			for args, want := range map[string]string{
				"one":        "\n== 99-toy 1/2 one: the first\nun\n" + test.want,
				"-check one": "99-toy: 1 of 1 steps as expected\n",
			} {
				var stdout string
				synctest.Test(t, func(t *testing.T) {
					_, stdout, _ = run(t.Context(), toy(), "", strings.Fields(args)...)
				})
				if stdout != want {
					t.Errorf("%s: stdout is %q\nwant %q", args, stdout, want)
				}
			}
		})
	}
}
