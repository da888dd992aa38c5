// Tests of where a step is: in another program, or under a similar name; and where its code and its
// section are.

package play

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"example.com/informer/scripts/harness/must"
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
		"go.work":                             "",
		"98-old/testdata/old.txt":             "",
		"98-old/testdata/queue.txt":           "",
		"99-toy/sub/testdata/queue.txt":       "",
		"99-toy/sub/testdata/deep.yaml":       "",
		"99-toy/outside/go.mod":               "",
		"99-toy/outside/testdata/outside.txt": "",
	})
	c := toy()
	c.Steps[0].Name, c.Steps[1].Name = "watch", "list"
	for name, hint := range map[string]string{
		"queue":   ": go run ./99-toy/sub queue has it",
		"old":     ": go run ./98-old old has it",
		"wacht":   ": did you mean watch?",
		"watches": ": did you mean watch?",
		"lst":     ": did you mean list?",
		"List":    ": did you mean list?",
		"nothing": "",
		"deep":    "",
		"outside": "",
		"*":       "",
		"../x":    "",
	} {
		code, _, stderr := run(t.Context(), c, "", name)
		wantCode(t, code, exitUsage, stderr)
		want := "99-toy: there is no step \"" + name + "\"" + hint + "\nthe steps are: watch, list\n"
		if stderr != want {
			t.Errorf("%s: stderr is %q\nwant %q", name, stderr, want)
		}
	}
	t.Chdir(t.TempDir()) // outside of the workspace, where the program knows no others
	_, _, stderr := run(t.Context(), c, "", "queue")
	if want := "99-toy: there is no step \"queue\"\nthe steps are: watch, list\n"; stderr != want {
		t.Errorf("outside of the workspace: stderr is %q, want %q", stderr, want)
	}
}

func TestWhereAStepIs(t *testing.T) {
	const code = "\n<!-- code 99-toy/step_%.go step% -->\n"
	shows := func(name string) string { return strings.ReplaceAll(code, "%", name) }
	for name, test := range map[string]struct{ page, want string }{
		"a heading with its name": {
			"# Toy\n\n## Run it\n" + shows("one") + "\n### one: the first\n",
			"(The code is in 99-toy/step_one.go, and the text in docs/99-toy.md:7.)\n",
		},
		"the heading above its code": {
			"# Toy\n\n## The code\n\n### Numbers\n" + shows("two") + shows("one") + "\n### And so on\n",
			"(The code is in 99-toy/step_one.go, and the text in docs/99-toy.md:5.)\n",
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
