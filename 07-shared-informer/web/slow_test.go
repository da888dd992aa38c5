// Clients and pages that take their time, in fake time and over pipes.

package web

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
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

// piped starts a server in the bubble of the test, and returns a connection to
// it. That no goroutine stays is checked by synctest.
func piped(t *testing.T, pages Pages) (conn net.Conn, stop func() error) {
	p := &pipes{make(chan net.Conn), make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	s := start(ctx, DefaultAddr, p, pages)
	conn, server := net.Pipe()
	p.conns <- server
	t.Cleanup(func() { conn.Close() })
	return conn, func() error { cancel(); return s.Wait() }
}

// read reads all in the background, and says what it was and how long it took.
func read(conn net.Conn) (text <-chan string, took <-chan time.Duration) {
	all, lasted := make(chan string, 1), make(chan time.Duration, 1)
	go func(begin time.Time) {
		got, _ := io.ReadAll(conn)
		lasted <- time.Since(begin)
		all <- string(got)
	}(time.Now())
	return all, lasted
}

const request = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"

// A byte a second is too slow, wherever in the request.
func TestAClientThatSendsSlowly(t *testing.T) {
	for name, sent := range map[string]string{
		"method": "", "path": "GET /", "headers": strings.TrimSuffix(request, "\r\n") + "X: ",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conn, stop := piped(t, helloPages)
				_, borne := read(conn)
				_, err := io.WriteString(conn, sent)
				for err == nil {
					_, err = conn.Write([]byte("x"))
					time.Sleep(time.Second)
				}
				if took := <-borne; took < readTimeout || took > readTimeout+time.Second {
					t.Errorf("it was borne for %v, want %v or little more", took, readTimeout)
				}
				must.Do(t, stop())
			})
		})
	}
}

func TestAClientThatReadsSlowly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin, borne := time.Now(), make(chan time.Duration, 1)
		conn, stop := piped(t, page(func(yield func(string) bool) {
			for yield(long) {
			}
			borne <- time.Since(begin)
		}))
		_, err := io.WriteString(conn, request)
		for err == nil {
			_, err = conn.Read(make([]byte, 1))
			time.Sleep(time.Second)
		}
		took := <-borne
		expect.That(t, took == writeTimeout, "the page was busy for %v, want %v", took, writeTimeout)
		must.Do(t, stop())
	})
}

func TestAConnectionThatIsNotUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, stop := piped(t, helloPages)
		io.WriteString(conn, request)
		_, open := read(conn)
		took := <-open
		expect.That(t, took == idleTimeout, "it stayed open for %v, want %v", took, idleTimeout)
		must.Do(t, stop())
	})
}

// A browser opens one to have it at hand.
func TestAnIdleConnectionIsNoRequestThatWasCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, stop := piped(t, helloPages)
		must.Do(t, stop())
	})
}

func TestWhatIsUnderWayMayEnd(t *testing.T) {
	for takes, want := range map[time.Duration]string{
		stopTimeout / 2: "",
		stopTimeout * 2: "stopping http://127.0.0.1:4000: cut off, as they had not ended after 5s: 1 of its requests",
	} {
		synctest.Test(t, func(t *testing.T) {
			conn, stop := piped(t, Pages{"/": func(c *gin.Context) {
				time.Sleep(takes)
				c.JSON(200, "done")
			}})
			answer, _ := read(conn)
			io.WriteString(conn, request)
			synctest.Wait() // the page has been asked for
			err := stop()
			got := <-answer
			whole := strings.Contains(got, "done")
			expect.That(t, whole == (want == "") && (err == nil) == (want == "") && (err == nil || err.Error() == want),
				"a page that takes %v: Wait() = %v, the client got %q; want %q", takes, err, got, want)
			time.Sleep(takes) // until the page has returned
		})
	}
}
