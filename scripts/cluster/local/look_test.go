// Tests that distinguish a control plane that is broken from one that is slow, with
// other processes in its place.

package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// recorded is a folder with the records of five processes that run, and a
// kubeconfig for the given port.
func recorded(t *testing.T, port int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := clean(dir); err != nil {
		t.Fatal(err)
	}
	if err := writeCredentials(dir, port); err != nil {
		t.Fatal(err)
	}
	var list []record
	for _, c := range all {
		r := spawn(t, "exec sleep 1000", "")
		r.Component = c
		list = append(list, r)
	}
	if err := writeRecords(dir, list); err != nil {
		t.Fatal(err)
	}
	return dir
}

// silent listens on a port and says nothing, like a server on a busy machine.
func silent(t *testing.T) (port int) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.Addr().(*net.TCPAddr).Port
}

func TestNobodyListensIsBroken(t *testing.T) {
	port, err := choosePort()
	if err != nil {
		t.Fatal(err)
	}
	var progress bytes.Buffer
	err = look(t.Context(), recorded(t, port), patience{refused: 100 * time.Millisecond, slow: time.Hour}, &progress)
	if !errors.Is(err, ErrBroken) || !strings.Contains(err.Error(), "refused") || progress.Len() != 0 {
		t.Errorf("got %v; progress: %s", err, progress.String())
	}
}

func TestSlowIsBrokenInTheEnd(t *testing.T) {
	var progress bytes.Buffer
	dir := recorded(t, silent(t))
	err := look(t.Context(), dir, patience{refused: 50 * time.Millisecond, slow: 200 * time.Millisecond}, &progress)
	if !errors.Is(err, ErrBroken) || strings.Count(progress.String(), "may only be slow") < 2 {
		t.Errorf("got %v; progress: %s", err, progress.String())
	}
}

func TestInterruptedLookSaysNothingOfTheCluster(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	progress := writerFunc(func() { cancel(enough) })
	err := look(ctx, recorded(t, silent(t)), patience{refused: 50 * time.Millisecond, slow: time.Hour}, progress)
	if !errors.Is(err, enough) || errors.Is(err, ErrBroken) {
		t.Errorf("got %v", err)
	}
}

func TestProcessThatEndsMeanwhileIsBroken(t *testing.T) {
	dir := recorded(t, silent(t))
	node := recordOf(t, dir, Node)
	progress := writerFunc(func() { _ = node.signal(9) })
	err := look(t.Context(), dir, patience{refused: 50 * time.Millisecond, slow: time.Hour}, progress)
	if !errors.Is(err, ErrBroken) || !strings.Contains(err.Error(), fmt.Sprintf("node (pid %d) has ended", node.PID)) {
		t.Errorf("got %v", err)
	}
}

func TestHalfStartedIsBroken(t *testing.T) {
	dir := recorded(t, silent(t))
	if err := writeRecords(dir, []record{recordOf(t, dir, Etcd)}); err != nil {
		t.Fatal(err)
	}
	err := Look(t.Context(), dir, io.Discard)
	if !errors.Is(err, ErrBroken) || !strings.Contains(err.Error(), "1 of its 5") {
		t.Errorf("got %v", err)
	}
}

// writerFunc is called for each write.
type writerFunc func()

func (f writerFunc) Write(p []byte) (int, error) { f(); return len(p), nil }
