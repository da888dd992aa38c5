package netfault

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"k8s.io/client-go/rest"

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// connected returns a proxy and both ends of a connection over it.
func connected(t *testing.T) (p *Proxy, client, server net.Conn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must.Do(t, err)
	t.Cleanup(func() { listener.Close() })
	p = New(listener.Addr().String())
	t.Cleanup(p.Close)
	client, err = p.Dial(t.Context(), "tcp", "")
	must.Do(t, err)
	t.Cleanup(func() { client.Close() })
	server, err = listener.Accept()
	must.Do(t, err)
	t.Cleanup(func() { server.Close() })
	say(t, client, server, "hello")
	say(t, server, client, "hello back")
	return p, client, server
}

func say(t *testing.T, from, to net.Conn, words string) {
	t.Helper()
	if _, err := io.WriteString(from, words); err != nil {
		t.Fatal(err)
	}
	received := make([]byte, len(words))
	if _, err := io.ReadFull(to, received); err != nil || string(received) != words {
		t.Fatalf("received %q, %v; want %q", received, err, words)
	}
}

func read(conn net.Conn) error {
	_, err := conn.Read(make([]byte, 1))
	return err
}

func TestReset(t *testing.T) {
	p, client, server := connected(t)
	p.Reset()
	wantRead(t, syscall.ECONNRESET, client, server)
}

// wantRead wants that each end reads this error.
func wantRead(t *testing.T, want error, ends ...net.Conn) {
	t.Helper()
	for i, end := range ends {
		err := read(end)
		expect.That(t, errors.Is(err, want), "end %d reads: %v; want %v", i, err, want)
	}
}

func TestHalfClose(t *testing.T) {
	p, client, server := connected(t)
	p.HalfClose()
	wantRead(t, io.EOF, client)
	say(t, client, server, "still here")
}

func open(p *Proxy) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.conns)
}

func TestBlackHole(t *testing.T) {
	p, client, server := connected(t)
	p.BlackHole()
	for name, ends := range map[string][2]net.Conn{"client": {client, server}, "server": {server, client}} {
		_, err := io.WriteString(ends[0], "anybody there?")
		expect.That(t, err == nil, "the %s writes: %v", name, err)
		must.Do(t, ends[1].SetReadDeadline(time.Now().Add(50*time.Millisecond)))
		wantRead(t, os.ErrDeadlineExceeded, ends[1]) // what was said vanishes
	}
	server.Close()
	must.Do(t, client.SetReadDeadline(time.Now().Add(50*time.Millisecond)))
	wantRead(t, os.ErrDeadlineExceeded, client) // it does not get the end of the server
	client.Close()
	must.Until(t, "a black hole is forgotten with its client", func() bool { return open(p) == 0 })
}

func TestRefuse(t *testing.T) {
	p, client, server := connected(t)
	p.Refuse()
	wantDial(t, p, syscall.ECONNREFUSED)
	say(t, client, server, "an old friend")
	p.Restore()
	wantDial(t, p, nil)
}

// wantDial wants that a new connection can be made, or that it fails so. That it
// was refused is remembered until the next fault.
func wantDial(t *testing.T, p *Proxy, want error) {
	t.Helper()
	refused := p.DialFailed()
	conn, err := p.Dial(t.Context(), "tcp", "")
	expect.That(t, errors.Is(err, want) && p.DialFailed() == (refused || want != nil),
		"dialing: error %v, refused %t; want %v", err, p.DialFailed(), want)
	if err == nil {
		conn.Close()
	}
}

func TestPull(t *testing.T) {
	p, client, server := connected(t)
	p.Pull()
	wantRead(t, io.EOF, client, server)
	expect.That(t, !p.DialFailed(), "refused before anybody has tried")
	wantDial(t, p, syscall.ENETUNREACH)
	p.Restore()
	wantDial(t, p, nil)
	p.Pull()
	expect.That(t, !p.DialFailed(), "another fault: it was refused before it")
}

// A connection is made while the proxy is cut, and closed at once.
func TestCut(t *testing.T) {
	p, client, server := connected(t)
	p.Cut()
	wantRead(t, io.EOF, client, server)
	cut, err := p.Dial(t.Context(), "tcp", "")
	must.Do(t, err)
	defer cut.Close()
	wantRead(t, io.EOF, cut)
	p.Restore()
	wantDial(t, p, nil)
}

func TestFor(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	config := &rest.Config{Host: server.URL}
	p, err := For(config)
	must.Do(t, err)
	defer p.Close()
	config.Dial = p.Dial
	client, err := rest.HTTPClientFor(config)
	must.Do(t, err)
	defer client.CloseIdleConnections()
	want := func(want error) {
		t.Helper()
		response, err := client.Get(server.URL)
		if err == nil {
			err = response.Body.Close()
		}
		expect.That(t, errors.Is(err, want), "got %v, want %v", err, want)
	}
	want(nil)
	p.Pull()
	want(syscall.ENETUNREACH)
	p.Restore()
	want(nil)
}

func TestTheTargetIsTheAPIServer(t *testing.T) {
	for host, want := range map[string]string{
		"https://127.0.0.1:6443": "127.0.0.1:6443",
		"https://[::1]":          "[::1]:https",
		"https://example.com":    "example.com:https",
		"http://example.com":     "example.com:http",
		"example.com:8080":       "example.com:8080",
	} {
		p, err := For(&rest.Config{Host: host})
		expect.That(t, err == nil && p.target == want, "%s: %v, %v; want %s", host, p, err, want)
	}
	_, err := For(&rest.Config{Host: "https://%zz"})
	expect.That(t, err != nil, "no error for what is no URL")
}

func TestAServerThatIsNotThere(t *testing.T) {
	p := New("127.0.0.1:1")
	defer p.Close()
	_, err := p.Dial(t.Context(), "tcp", "")
	expect.That(t, errors.Is(err, syscall.ECONNREFUSED), "got %v; want that the client is refused, too", err)
}
