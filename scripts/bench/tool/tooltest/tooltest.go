// Package tooltest tests what all tools promise.
package tooltest

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/informer/scripts/bench/tool"
)

// progress ends a run as soon as it comes to some text.
type progress struct {
	bytes.Buffer
	at   string
	stop func()
}

func (p *progress) Write(text []byte) (int, error) {
	n, err := p.Buffer.Write(text)
	if strings.Contains(p.String(), p.at) {
		p.stop()
	}
	return n, err
}

// Stop runs a tool with an -o of its own, stops it when its progress comes to a
// text, or before it has begun if that is empty, and wants it to say so and to
// leave no file.
func Stop[O any](t *testing.T, program tool.Tool[O], at string, args ...string) {
	t.Helper()
	temp, results := t.TempDir(), filepath.Join(t.TempDir(), "results")
	t.Setenv("TMPDIR", temp)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if at == "" {
		cancel()
	}
	var stdout bytes.Buffer
	stderr := &progress{at: at, stop: cancel}
	if code := program.Run(ctx, append(args, "-o", results), &stdout, stderr); code != 130 {
		t.Errorf("exit code %d, want 130", code)
	}
	if want := program.Name + ": stopped, nothing was written\n"; !strings.HasSuffix(stderr.String(), want) || stdout.Len() > 0 {
		t.Errorf("printed %q, and said %q", stdout.String(), stderr.String())
	}
	if _, err := os.Stat(results); !os.IsNotExist(err) {
		t.Errorf("%s: %v, want that it does not exist", results, err)
	}
	WantEmpty(t, temp)
}

// WantEmpty wants a folder to hold nothing.
func WantEmpty(t *testing.T, folder string) {
	t.Helper()
	if left, err := os.ReadDir(folder); len(left) > 0 || err != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// Refuse wants a tool to refuse some flags, and to say this.
func Refuse[O any](t *testing.T, program tool.Tool[O], says string, args ...string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := program.Run(t.Context(), args, &stdout, &stderr); code != 2 || !strings.Contains(stderr.String(), says) || stdout.Len() > 0 {
		t.Errorf("%q: exit code %d, printed %q, said %q", args, code, stdout.String(), stderr.String())
	}
}

// Read returns what was written to a folder under a name.
func Read(t *testing.T, folder, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// WantXML wants a picture to be well-formed.
func WantXML(t *testing.T, text string) {
	t.Helper()
	for decoder := xml.NewDecoder(strings.NewReader(text)); ; {
		switch _, err := decoder.Token(); {
		case errors.Is(err, io.EOF):
			return
		case err != nil:
			t.Fatalf("the picture is not well-formed: %v", err)
		}
	}
}
