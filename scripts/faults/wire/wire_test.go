package wire

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// connected returns a wire and both ends of a connection over it.
func connected(t *testing.T) (w *Wire, client, server net.Conn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	if w, err = New(listener.Addr().String()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	if client, err = w.Dial(t.Context(), "tcp", ""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	if server, err = listener.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	say(t, client, server, "hello")
	say(t, server, client, "hello back")
	return w, client, server
}

func say(t *testing.T, from, to net.Conn, words string) {
	t.Helper()
	if _, err := io.WriteString(from, words); err != nil {
		t.Fatal(err)
	}
	heard := make([]byte, len(words))
	if _, err := io.ReadFull(to, heard); err != nil || string(heard) != words {
		t.Fatalf("heard %q, %v; want %q", heard, err, words)
	}
}

func read(conn net.Conn) error {
	_, err := conn.Read(make([]byte, 1))
	return err
}

func TestReset(t *testing.T) {
	w, client, server := connected(t)
	w.Reset()
	for name, end := range map[string]net.Conn{"client": client, "server": server} {
		if err := read(end); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("the %s reads: %v; want a reset", name, err)
		}
	}
}

func TestHalfClose(t *testing.T) {
	w, client, server := connected(t)
	w.HalfClose()
	if err := read(client); !errors.Is(err, io.EOF) {
		t.Errorf("the client reads: %v; want the end", err)
	}
	say(t, client, server, "still here")
}

func TestBlackHole(t *testing.T) {
	w, client, server := connected(t)
	w.BlackHole()
	for name, ends := range map[string][2]net.Conn{"client": {client, server}, "server": {server, client}} {
		if _, err := io.WriteString(ends[0], "anybody there?"); err != nil {
			t.Errorf("the %s writes: %v", name, err)
		}
		if err := ends[1].SetReadDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		if err := read(ends[1]); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("what the %s said: %v; want that it vanishes", name, err)
		}
	}
	server.Close()
	if err := client.SetReadDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if err := read(client); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the end of the server: %v; want that the client does not hear of it", err)
	}
}

func TestRefuse(t *testing.T) {
	w, client, server := connected(t)
	w.Refuse()
	if _, err := w.Dial(t.Context(), "tcp", ""); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("got %v", err)
	}
	say(t, client, server, "an old friend")
	w.Accept()
	again, err := w.Dial(t.Context(), "tcp", "")
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
}

func TestAServerThatIsNotThere(t *testing.T) {
	w, err := New("127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := w.Dial(t.Context(), "tcp", ""); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("got %v; want that the client is refused, too", err)
	}
}

func TestAConnectionThatWasClosedIsForgotten(t *testing.T) {
	w, client, _ := connected(t)
	open := func() int {
		w.mu.Lock()
		defer w.mu.Unlock()
		return len(w.links)
	}
	if open() != 1 {
		t.Errorf("%d connections", open())
	}
	client.Close()
	deadline := time.Now().Add(10 * time.Second)
	for open() > 0 {
		if time.Now().After(deadline) {
			t.Fatal("a connection that was closed is still there")
		}
		time.Sleep(time.Millisecond)
	}
}
