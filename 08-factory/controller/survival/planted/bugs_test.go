package planted

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"text/template"

	"example.com/informer/scripts/harness/hunk"
	"example.com/informer/scripts/harness/must"
)

// A bug is a change of some files of package notices.
type bug struct {
	name        string
	description string
	foundBy     string              // the scenario and the judgement: SCENARIO/JUDGEMENT
	hunks       map[string][]string // by the name of the file
}

func readBugs(t *testing.T) (bugs []bug) {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.diff")
	must.NoError(t, err)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		must.NoError(t, err)
		b, err := parseBug(string(text))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		b.name = strings.TrimSuffix(filepath.Base(path), ".diff")
		bugs = append(bugs, b)
	}
	return bugs
}

// parseBug reads a description, a line "Found by: SCENARIO/JUDGEMENT", and the hunks. A line
// "--- FILE" begins the hunks of a file, and a line "@@" a hunk.
func parseBug(text string) (bug, error) {
	head, differences, _ := strings.Cut(text, "\n--- ")
	description, foundBy, ok := strings.Cut(head, "Found by: ")
	if !ok || differences == "" {
		return bug{}, fmt.Errorf("want a line %q, and a difference", "Found by: SCENARIO/JUDGEMENT")
	}
	b := bug{
		description: strings.TrimSpace(description),
		foundBy:     strings.TrimSpace(foundBy),
		hunks:       map[string][]string{},
	}
	for _, difference := range strings.Split(differences, "\n--- ") {
		file, hunks, _ := strings.Cut(difference, "\n@@\n")
		b.hunks[file] = strings.Split(strings.TrimSuffix(hunks, "\n")+"\n", "@@\n")
	}
	return b, nil
}

// build builds the program of this test again, with a package for each bug. These packages are in
// an overlay: they exist for the compiler only.
func build(t *testing.T, bugs []bug) (program string) {
	t.Helper()
	here, err := filepath.Abs(".")
	must.NoError(t, err)
	sources, err := filepath.Glob(filepath.Join(here, "../../notices/*.go"))
	must.NoError(t, err)
	texts := map[string]string{} // by the path below this folder
	for _, b := range bugs {
		planted := 0
		for _, source := range sources {
			file := filepath.Base(source)
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			text, err := os.ReadFile(source)
			must.NoError(t, err)
			changed, err := b.plant(file, string(text))
			if err != nil {
				t.Fatalf("%s: %s: %v", b.name, file, err)
			}
			planted += len(b.hunks[file])
			texts[filepath.Join(b.name, file)] = changed
		}
		if planted == 0 {
			t.Fatalf("%s: none of its files is in package notices", b.name)
		}
	}
	texts["starts_test.go"] = register(t, bugs)

	dir := t.TempDir()
	overlay, err := hunk.Overlay(here, dir, texts)
	must.NoError(t, err)
	program = filepath.Join(dir, "planted.test")
	args := []string{"test", "-c", "-vet=off", "-o", program, "-overlay", overlay} // vet does not know overlays
	if race {
		args = append(args, "-race") // the packages of this test are compiled already
	}
	output, err := exec.CommandContext(t.Context(), "go", append(args, ".")...).CombinedOutput()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, output)
	}
	return program
}

// plant plants the bug in the text of a file.
func (b bug) plant(file, text string) (string, error) {
	for _, h := range b.hunks[file] {
		var err error
		if text, err = hunk.Apply(text, h); err != nil {
			return "", err
		}
	}
	return text, nil
}

var registerTemplate = template.Must(template.New("").Parse(`package planted

import (
	"context"

	"k8s.io/client-go/rest"
{{range $i, $name := .}}
	b{{$i}} "example.com/informer/08-factory/controller/survival/planted/{{$name}}"
{{- end}}
)

func init() {
{{- range $i, $name := .}}
	starts["{{$name}}"] = func(ctx context.Context, config *rest.Config, namespace string) error {
		return b{{$i}}.Run(ctx, config, namespace, b{{$i}}.Options{})
	}
{{- end}}
}
`))

// register returns a file that fills starts.
func register(t *testing.T, bugs []bug) string {
	t.Helper()
	var names []string
	for _, b := range bugs {
		names = append(names, b.name)
	}
	var text bytes.Buffer
	must.NoError(t, registerTemplate.Execute(&text, names))
	return text.String()
}
