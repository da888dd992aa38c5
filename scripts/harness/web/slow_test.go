// Slow clients and slow pages, in fake time and over pipes.

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

func (p *pipes) Close() error {
	close(p.closed)
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 4000} }

// piped starts a server in the bubble of the test, and returns a connection to it. synctest checks
// that no goroutine of the server is left.
func piped(t *testing.T, pages Pages) (conn net.Conn, stop func() error) {
	p := &pipes{make(chan net.Conn), make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	s := serve(ctx, DefaultAddr, p, pages.engine())
	conn, server := net.Pipe()
	p.conns <- server
	t.Cleanup(func() { conn.Close() })
	return conn, func() error {
		cancel()
		return s.Wait()
	}
}

// An answer is what a server sends on a connection, and the time until the server closes it.
type answer struct {
	text string
	took time.Duration
}

// readAnswer reads an answer in the background.
func readAnswer(conn net.Conn) <-chan answer {
	answers := make(chan answer, 1)
	begin := time.Now()
	go func() {
		text, _ := io.ReadAll(conn)
		answers <- answer{text: string(text), took: time.Since(begin)}
	}()
	return answers
}

const request = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"

// A byte a second is too slow, in every part of the request.
func TestAClientThatSendsSlowly(t *testing.T) {
	for name, sent := range map[string]string{
		"method": "", "path": "GET /", "headers": strings.TrimSuffix(request, "\r\n") + "X: ",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conn, stop := piped(t, helloPages)
				answers := readAnswer(conn)
				_, err := io.WriteString(conn, sent)
				for err == nil {
					_, err = conn.Write([]byte("x"))
					time.Sleep(time.Second)
				}
				if took := (<-answers).took; took < 5*time.Second || took > 6*time.Second {
					t.Errorf("the server closed the connection after %v, want 5s or little more", took)
				}
				must.NoError(t, stop())
			})
		})
	}
}

func TestAClientThatReadsSlowly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin, ended := time.Now(), make(chan time.Duration, 1)
		conn, stop := piped(t, endless(func() { ended <- time.Since(begin) }))
		_, err := io.WriteString(conn, request)
		for err == nil {
			_, err = conn.Read(make([]byte, 1))
			time.Sleep(time.Second)
		}
		if took := <-ended; took != 30*time.Second {
			t.Errorf("the page could write for %v, want 30s", took)
		}
		must.NoError(t, stop())
	})
}

func TestAConnectionThatIsNotUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, stop := piped(t, helloPages)
		io.WriteString(conn, request)
		if took := (<-readAnswer(conn)).took; took != time.Minute {
			t.Errorf("the server closed the connection after %v, want 1m0s", took)
		}
		must.NoError(t, stop())
	})
}

// A browser opens a connection before it needs one.
func TestAnIdleConnectionIsNoRequestThatWasCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before := must.Goroutines()
		_, stop := piped(t, helloPages)
		must.NoError(t, stop())
		must.NoNewGoroutines(t, before)
	})
}

// When the server stops, it waits for the requests in flight, at most for stopTimeout.
func TestWhatIsUnderWayMayEnd(t *testing.T) {
	for _, test := range []struct {
		takes time.Duration // the page
		whole bool          // the client gets the whole answer
		want  string        // the error of Wait; "" for none
	}{
		{takes: stopTimeout / 2, whole: true},
		{
			takes: stopTimeout * 2,
			want:  "stopping http://127.0.0.1:4000: cut off, as they had not ended after 5s: 1 of its requests",
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			conn, stop := piped(t, Pages{"/": func(c *gin.Context) {
				time.Sleep(test.takes)
				c.JSON(200, "done")
			}})
			answers := readAnswer(conn)
			io.WriteString(conn, request)
			synctest.Wait() // the page has been asked for
			err := stop()
			if got := errorText(err); got != test.want {
				t.Errorf("a page that takes %v: Wait() = %q, want %q", test.takes, got, test.want)
			}
			text := (<-answers).text
			if got := strings.Contains(text, "done"); got != test.whole {
				t.Errorf("a page that takes %v: the client got %q; the whole answer: %t, want %t", test.takes, text,
					got, test.whole)
			}
			time.Sleep(test.takes) // until the page has returned
		})
	}
}

// errorText returns the text of an error, or "" if there is none.
func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
