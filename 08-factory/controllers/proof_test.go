// Tests of how the proof ends when it does not reach its end. That it does, and
// what it prints, is tested by the chapter whose step it is.

package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ownTemp gives the test a folder for temporary files, and checks in the end
// that none is left in it.
func ownTemp(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Cleanup(func() {
		if left, err := os.ReadDir(dir); len(left) != 0 || err != nil {
			t.Errorf("left behind: %v, %v", left, err)
		}
	})
}

// interrupter calls interrupt as soon as a text was written to it.
type interrupter struct {
	bytes.Buffer
	text      string
	interrupt func()
}

func (i *interrupter) Write(p []byte) (int, error) {
	n, err := i.Buffer.Write(p)
	if strings.Contains(i.String(), i.text) {
		i.interrupt()
	}
	return n, err
}

// While everything is at work: the controllers, their informers, the components.
func TestInterrupted(t *testing.T) {
	ownTemp(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := &interrupter{text: "# kubectl delete deployment", interrupt: cancel}
	if err := prove(ctx, out, os.Stderr); !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "\n") {
		t.Errorf("it ended with: %v", err)
	}
	want, err := os.ReadFile(filepath.Join("..", "testdata", "controllers.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(want), out.String()) {
		t.Errorf("printed until then:\n%s\nwhich is not the beginning of:\n%s", out, want)
	}
}

func TestNoControlPlane(t *testing.T) {
	ownTemp(t)
	t.Setenv("XDG_CACHE_HOME", os.DevNull)
	var out bytes.Buffer
	err := prove(t.Context(), &out, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "set XDG_CACHE_HOME to another folder") || out.Len() != 0 {
		t.Errorf("it printed %q and ended with: %v", out.String(), err)
	}
}

func TestPatienceEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		err := until(t.Context(), "end of it", func(context.Context) (bool, any, error) {
			return false, "much\n  to do\n", nil
		})
		if want := "no end of it after 2m0s; there is: much;  to do"; err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
		broken := errors.New("broken")
		err = until(t.Context(), "an end", func(context.Context) (bool, any, error) { return false, nil, broken })
		if !errors.Is(err, broken) {
			t.Errorf("got %v, want that it is broken", err)
		}
	})
}
