// Clients that take their time, in fake time and over pipes.

package web

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/informer/07-shared-informer/web/webtest"
)

// pipes is a listener without a network.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}
func (p *pipes) Close() error   { close(p.closed); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 4000} }

// piped starts a server in the bubble of the test, with the default timeouts,
// and returns a connection to it. That no goroutine stays is checked by
// synctest, which waits for all of them.
func piped(t *testing.T, pages Pages) (conn net.Conn, stop func() error) {
	var opts Options
	opts.setDefaults()
	p := &pipes{make(chan net.Conn), make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	s := start(ctx, opts, pages, p)
	conn, server := net.Pipe()
	p.conns <- server
	return conn, func() error { cancel(); return s.Wait() }
}

// A byte a second is too slow, wherever in the request. What came of a first
// line is refused, and the refusal may be read for half a second.
func TestAClientThatSendsSlowly(t *testing.T) {
	for name, sent := range map[string]string{
		"method": "", "path": "GET /", "headers": "GET /pods HTTP/1.1\r\nHost: localhost\r\nX: ",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conn, stop := piped(t, helloPages)
				defer conn.Close()
				borne := make(chan time.Duration, 1)
				go func(begin time.Time) {
					io.Copy(io.Discard, conn)
					borne <- time.Since(begin)
				}(time.Now())
				_, err := io.WriteString(conn, sent)
				for err == nil {
					_, err = conn.Write([]byte("x"))
					time.Sleep(time.Second)
				}
				if took := <-borne; took < 5*time.Second || took > 5500*time.Millisecond {
					t.Errorf("it was borne for %v, want 5s or little more", took)
				}
				if err := stop(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// The answer does not wait for a body that nobody will read.
func TestABodyThatComesSlowly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, stop := piped(t, helloPages)
		defer conn.Close()
		begin := time.Now()
		conn.Write(webtest.Request("GET", "/pods", "", "Host: localhost", "Content-Length: 1000"))
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, response.Body)
		if took := time.Since(begin); took != 0 || response.StatusCode != 200 || !response.Close {
			t.Errorf("got %d after %v, to be closed: %t; want 200 at once, and that it hangs up", response.StatusCode, took, response.Close)
		}
		for err == nil {
			_, err = conn.Write([]byte("x"))
			time.Sleep(time.Second)
		}
		if took := time.Since(begin); took > 10*time.Second {
			t.Errorf("the rest was borne for %v", took)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestAClientThatReadsSlowly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var taken int
		var begin time.Time
		borne := make(chan time.Duration, 1)
		conn, stop := piped(t, Pages{"/": func(c *gin.Context) {
			defer func() { borne <- time.Since(begin) }()
			Stream(c, endless(&taken, func(int) any { return long }))
		}})
		defer conn.Close()
		begin = time.Now()
		_, err := conn.Write(webtest.Request("GET", "/", "", "Host: localhost"))
		for err == nil {
			_, err = conn.Read(make([]byte, 1))
			time.Sleep(time.Second)
		}
		if took := <-borne; took != 30*time.Second {
			t.Errorf("the page was busy for %v, want 30s", took)
		}
		if taken > 100 {
			t.Errorf("%d items were taken, want what the buffer holds", taken)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestAConnectionThatIsNotUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, stop := piped(t, helloPages)
		defer conn.Close()
		conn.Write(webtest.Request("GET", "/pods", "", "Host: localhost"))
		begin := time.Now()
		io.Copy(io.Discard, conn)
		if took := time.Since(begin); took != time.Minute {
			t.Errorf("it stayed open for %v, want one minute", took)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}
