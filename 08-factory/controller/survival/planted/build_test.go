package planted

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"example.com/informer/scripts/harness/hunk"
	"example.com/informer/scripts/harness/must"
)

// A bug is a change of some files of package notices.
type bug struct {
	name, description, foundBy string
	differences                map[string]string // by the name of the file
}

// readBug reads a description, a line "Found by: SCENARIO", and for each file a line "--- FILE" and its
// hunks, each of them after a line "@@".
func readBug(t *testing.T, path string) bug {
	t.Helper()
	text, err := os.ReadFile(path)
	must.NoError(t, err)
	head, differences, _ := strings.Cut(string(text), "\n\n--- ")
	b := bug{name: strings.TrimSuffix(filepath.Base(path), ".diff"), differences: map[string]string{}}
	b.description, b.foundBy, _ = strings.Cut(head, "\n\nFound by: ")
	for difference := range strings.SplitSeq(differences, "\n\n--- ") {
		file, hunks, _ := strings.Cut(difference, "\n@@\n")
		b.differences[file] = strings.TrimSuffix(hunks, "\n") + "\n"
	}
	return b
}

// build builds the program of this test again, with a package for each bug. These packages, and a file
// that fills starts, are in an overlay: they exist for the compiler only.
func build(t *testing.T, bugs []bug) (program string) {
	t.Helper()
	here, err := filepath.Abs(".")
	must.NoError(t, err)
	sources, err := filepath.Glob("../../notices/*.go")
	must.NoError(t, err)
	texts := map[string]string{}
	var imports, assignments strings.Builder
	for i, b := range bugs {
		planted := 0
		for _, source := range sources {
			file := filepath.Base(source)
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			text, err := os.ReadFile(source)
			must.NoError(t, err)
			changed := string(text)
			if difference, ok := b.differences[file]; ok {
				planted++
				if changed, err = hunk.Apply(changed, difference); err != nil {
					t.Fatalf("%s: %s: %v", b.name, file, err)
				}
			}
			texts[filepath.Join(b.name, file)] = changed
		}
		if planted == 0 || planted < len(b.differences) {
			t.Fatalf("%s changes %d files of package notices, want all of its %d", b.name, planted, len(b.differences))
		}
		fmt.Fprintf(&imports, "import b%d %q\n", i,
			"example.com/informer/08-factory/controller/survival/planted/"+b.name)
		fmt.Fprintf(&assignments, `	starts[%q] = func(
		ctx context.Context, config *rest.Config, namespace string) error {
		return b%d.Run(ctx, config, namespace, b%d.Options{})
	}
`, b.name, i, i)
	}
	texts["starts_test.go"] = "package planted\n\nimport \"context\"\nimport \"k8s.io/client-go/rest\"\n" +
		imports.String() + "\nfunc init() {\n" + assignments.String() + "}\n"

	dir := t.TempDir()
	overlay, err := hunk.Overlay(here, dir, texts)
	must.NoError(t, err)
	program = filepath.Join(dir, "planted.test")
	// vet does not know overlays.
	output, err := exec.CommandContext(t.Context(), "go", "test", "-c", "-race", "-vet=off", "-overlay", overlay,
		"-o", program, ".").CombinedOutput()
	if err != nil {
		t.Fatalf("go test -c: %v\n%s", err, output)
	}
	return program
}
