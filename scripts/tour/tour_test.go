package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestHeldKeepsItsTurn(t *testing.T) {
	var out bytes.Buffer
	h := &held{out: &out}
	h.Write([]byte("one "))
	if out.Len() > 0 {
		t.Errorf("passed on before its turn: %q", out.String())
	}
	h.release()
	h.Write([]byte("two"))
	if out.String() != "one two" {
		t.Errorf("passed on %q, want %q", out.String(), "one two")
	}
}

// chapter writes a program that exits with the given code.
func chapter(t *testing.T, name, code string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{
		"go.mod":  "module example.com/chapter\n",
		"main.go": "package main\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n\nfunc main() { fmt.Println(os.Args[1], os.Getenv(\"KUBECONFIG\")); os.Exit(" + code + ") }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestTallyNamesTheChaptersThatDiffer(t *testing.T) {
	t.Setenv("GOWORK", "off")
	var stdout, stderr bytes.Buffer
	as := tally{stdout: &stdout, stderr: &stderr}
	as.run(t.Context(), chapter(t, "01-good", "0"), []string{"KUBECONFIG=here"})
	if err := as.sum(1); err != nil || stdout.String() != "-check here\n\ntour: 1 of 1 chapters as expected\n" {
		t.Errorf("one good chapter: error %v, printed %q", err, stdout.String())
	}
	as.run(t.Context(), chapter(t, "02-bad", "1"), nil)
	if err := as.sum(2); err == nil || !strings.Contains(err.Error(), "[02-bad] (1 of 2 chapters)") {
		t.Errorf("one bad chapter: error %v, want its name", err)
	}
}
