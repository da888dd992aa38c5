package fault

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"k8s.io/client-go/rest"

	"example.com/informer/scripts/harness/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// connected returns a proxy and both ends of a connection over it.
func connected(t *testing.T) (p *Proxy, client, server net.Conn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must.NoError(t, err)
	t.Cleanup(func() { listener.Close() })
	p = New(listener.Addr().String())
	t.Cleanup(p.Close)
	client, err = p.Dial(t.Context(), "tcp", "")
	must.NoError(t, err)
	t.Cleanup(func() { client.Close() })
	server, err = listener.Accept()
	must.NoError(t, err)
	t.Cleanup(func() { server.Close() })
	send(t, client, server, "hello")
	send(t, server, client, "hello back")
	return p, client, server
}

// send writes a text to one end, and wants to read it from the other.
func send(t *testing.T, from, to net.Conn, text string) {
	t.Helper()
	_, err := io.WriteString(from, text)
	must.NoError(t, err)
	received := make([]byte, len(text))
	if _, err := io.ReadFull(to, received); err != nil || string(received) != text {
		t.Fatalf("received %q, %v; want %q", received, err, text)
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

// wantRead wants that a read from each of these ends returns this error.
func wantRead(t *testing.T, want error, ends ...net.Conn) {
	t.Helper()
	for i, end := range ends {
		if err := read(end); !errors.Is(err, want) {
			t.Errorf("read from end %d: error %v, want %v", i, err, want)
		}
	}
}

func TestHalfClose(t *testing.T) {
	p, client, server := connected(t)
	p.HalfClose()
	wantRead(t, io.EOF, client)
	send(t, client, server, "still here")
}

// An end that has sent its FIN can still receive.
func TestFINOfOneEnd(t *testing.T) {
	for _, name := range []string{"client", "server"} {
		t.Run(name, func(t *testing.T) {
			p, first, second := connected(t)
			if name == "server" {
				first, second = second, first
			}
			must.NoError(t, first.(*net.TCPConn).CloseWrite())
			wantRead(t, io.EOF, second)
			send(t, second, first, "the answer")
			must.NoError(t, second.(*net.TCPConn).CloseWrite())
			wantRead(t, io.EOF, first)
			must.Until(t, "the connection is removed", func() bool { return openConns(p) == 0 })
		})
	}
}

func TestAResetByOneEndEndsTheOther(t *testing.T) {
	p, client, server := connected(t)
	must.NoError(t, client.(*net.TCPConn).SetLinger(0)) // Close sends a RST
	client.Close()
	if err := read(server); err == nil {
		t.Error("read from the server's end after a RST of the client: no error, want one")
	}
	must.Until(t, "the connection is removed", func() bool { return openConns(p) == 0 })
}

// openConns returns how many connections the proxy serves.
func openConns(p *Proxy) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.conns)
}

func TestBlackHole(t *testing.T) {
	p, client, server := connected(t)
	p.BlackHole()
	for _, ends := range []struct{ from, to net.Conn }{{from: client, to: server}, {from: server, to: client}} {
		_, err := io.WriteString(ends.from, "anybody there?")
		must.NoError(t, err)
		must.NoError(t, ends.to.SetReadDeadline(time.Now().Add(50*time.Millisecond)))
		wantRead(t, os.ErrDeadlineExceeded, ends.to) // the bytes are lost
	}
	server.Close()
	must.NoError(t, client.SetReadDeadline(time.Now().Add(50*time.Millisecond)))
	wantRead(t, os.ErrDeadlineExceeded, client) // the FIN of the server is lost
	client.Close()
	must.Until(t, "the connection is removed", func() bool { return openConns(p) == 0 })
}

func TestRefuse(t *testing.T) {
	p, client, server := connected(t)
	p.Refuse()
	wantDial(t, p, syscall.ECONNREFUSED)
	send(t, client, server, "an old friend")
	p.Restore()
	wantDial(t, p, nil)
}

// wantDial wants that Dial returns this error. If Dial fails, it wants DialFailed to be true; if
// not, it wants it to stay as it was.
func wantDial(t *testing.T, p *Proxy, want error) {
	t.Helper()
	wantFailed := p.DialFailed()
	if want != nil {
		wantFailed = true
	}
	conn, err := p.Dial(t.Context(), "tcp", "")
	if err == nil {
		conn.Close()
	}
	if !errors.Is(err, want) {
		t.Errorf("Dial() = %v, want %v", err, want)
	}
	wantDialFailed(t, p, wantFailed)
}

func wantDialFailed(t *testing.T, p *Proxy, want bool) {
	t.Helper()
	if got := p.DialFailed(); got != want {
		t.Errorf("DialFailed() = %t, want %t", got, want)
	}
}

func TestPull(t *testing.T) {
	p, client, server := connected(t)
	p.Pull()
	wantRead(t, io.EOF, client, server)
	wantDialFailed(t, p, false)
	wantDial(t, p, syscall.ENETUNREACH)
	p.Restore()
	wantDial(t, p, nil)
	p.Pull()
	wantDialFailed(t, p, false) // it failed before this fault only
}

// Dial works while the proxy is cut, and its connection is closed immediately.
func TestCut(t *testing.T) {
	p, client, server := connected(t)
	p.Cut()
	wantRead(t, io.EOF, client, server)
	cut, err := p.Dial(t.Context(), "tcp", "")
	must.NoError(t, err)
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
	must.NoError(t, err)
	defer p.Close()
	config.Dial = p.Dial
	client, err := rest.HTTPClientFor(config)
	must.NoError(t, err)
	defer client.CloseIdleConnections()
	wantGet := func(want error) {
		t.Helper()
		response, err := client.Get(server.URL)
		if err == nil {
			response.Body.Close()
		}
		if !errors.Is(err, want) {
			t.Errorf("Get() = %v, want %v", err, want)
		}
	}
	wantGet(nil)
	p.Pull()
	wantGet(syscall.ENETUNREACH)
	p.Restore()
	wantGet(nil)
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
		must.NoError(t, err)
		if p.target != want {
			t.Errorf("the target of a proxy for %s is %s, want %s", host, p.target, want)
		}
	}
	const bad = "https://%zz"
	if _, err := For(&rest.Config{Host: bad}); err == nil {
		t.Errorf("For() of the host %s = nil, want an error", bad)
	}
}

// When Close returns, both goroutines of a connection have ended, even in a black hole.
func TestCloseEndsAll(t *testing.T) {
	before := must.Goroutines()
	p, _, _ := connected(t)
	p.BlackHole()
	p.Close()
	must.NoNewGoroutines(t, before)
}

func TestDialOfAServerThatDoesNotListen(t *testing.T) {
	p := New("127.0.0.1:1")
	defer p.Close()
	if _, err := p.Dial(t.Context(), "tcp", ""); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("Dial() = %v, want %v", err, syscall.ECONNREFUSED)
	}
}

// The bytes that a connection reads are counted, and those that it writes are not.
func TestCountBytes(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must.NoError(t, err)
	defer listener.Close()
	var n atomic.Int64
	client, err := CountBytes(new(net.Dialer).DialContext, &n)(t.Context(), "tcp", listener.Addr().String())
	must.NoError(t, err)
	defer client.Close()
	server, err := listener.Accept()
	must.NoError(t, err)
	defer server.Close()
	send(t, client, server, "a question")
	send(t, server, client, "the answer")
	if got, want := n.Load(), int64(len("the answer")); got != want {
		t.Errorf("%d bytes are counted, want %d", got, want)
	}
}
