// How a server starts, how much it takes on, and how it stops.

package web

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/informer/07-shared-informer/web/webtest"
)

func TestAPortThatIsInUse(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	addr := taken.Addr().String()
	want := "listening on " + addr + ": the port is in use: end the program that listens there, " +
		"or choose another one with -addr, such as -addr 127.0.0.1:0 for any that is free"
	if _, err := Start(t.Context(), Options{Addr: addr}, nil); err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestAnAddressThatIsNone(t *testing.T) {
	for addr, want := range map[string]string{
		"4000":            `"4000": this is no host and port`,
		"localhost":       `"localhost": this is no host and port`,
		"127.0.0.1:":      `"127.0.0.1:": this is no host and port`,
		"127.0.0.1:http":  `"127.0.0.1:http": this is no host and port`,
		"127.0.0.1:70000": `"127.0.0.1:70000": this is no host and port`,
		"127.0.0.1:-1":    `"127.0.0.1:-1": this is no host and port`,
		"::1:4000":        `"::1:4000": this is no host and port`,
		"a\nb:4000\x00":   `"a\nb:4000\x00": this is no host and port`,
		"192.0.2.1:4000":  "192.0.2.1:4000: bind: ",
	} {
		s, err := Start(t.Context(), Options{Addr: addr}, nil)
		if s != nil || err == nil || !strings.HasPrefix(err.Error(), "listening on "+want) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), ": choose ") {
			t.Errorf("%q: got  %v\nwant one line with %s", addr, err, want)
		}
	}
}

func TestURL(t *testing.T) {
	for addr, want := range map[string]string{"127.0.0.1:0": "http://127.0.0.1:", ":0": "http://localhost:"} {
		ctx, cancel := context.WithCancel(t.Context())
		s, err := Start(ctx, Options{Addr: addr}, helloPages)
		if err != nil {
			t.Fatal(err)
		}
		if status, _, body := get(t, s.URL()+"/pods"); !strings.HasPrefix(s.URL(), want) || status != 200 {
			t.Errorf("%s: got %s, %d %s; want %s", addr, s.URL(), status, body, want)
		}
		cancel()
		if err := s.Wait(); err != nil {
			t.Error(err)
		}
	}
}

// What gin has to say would stand in the middle of a lesson.
func TestGinIsSilent(t *testing.T) {
	gin.SetMode(gin.DebugMode)
	running(t, Options{}, nil)
	if gin.IsDebugging() {
		t.Error("gin writes on stdout")
	}
}

func TestAContextThatHasEndedAlready(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s, err := Start(ctx, Options{Addr: "127.0.0.1:0"}, helloPages)
	if err == nil {
		err = s.Wait()
	}
	if err != nil {
		t.Error(err)
	}
}

// waiting is a page that says when it was asked for and answers when it may.
type waiting struct{ asked, answer chan struct{} }

func newWaiting() waiting { return waiting{make(chan struct{}, 100), make(chan struct{})} }

func (w waiting) page(c *gin.Context) {
	w.asked <- struct{}{}
	<-w.answer
	c.JSON(http.StatusOK, "done")
}

// ask gets a page in the background.
func ask(url string) <-chan string {
	said := make(chan string, 1)
	go func() {
		response, err := client.Get(url)
		if err != nil {
			said <- "error"
			return
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		said <- fmt.Sprintf("%d %s %v", response.StatusCode, body, err)
	}()
	return said
}

func TestTooManyRequests(t *testing.T) {
	w := newWaiting()
	s, _ := running(t, Options{MaxRequests: 2}, Pages{"/": w.page})
	one, two := ask(s.URL()), ask(s.URL())
	<-w.asked
	<-w.asked
	for _, path := range []string{"/", "/no/such/page"} {
		status, header, body := get(t, s.URL()+path)
		want := `{"error":"the limit of requests at one time is reached, which is 2: try again"}`
		if status != 503 || header.Get("Retry-After") != "1" || body != want {
			t.Errorf("%s: got %d, Retry-After %q, %s\nwant 503, 1, %s", path, status, header.Get("Retry-After"), body, want)
		}
	}
	close(w.answer)
	for _, said := range []string{<-one, <-two, <-ask(s.URL())} {
		if said != `200 "done" <nil>` {
			t.Errorf("got %s", said)
		}
	}
}

// refuses waits until a server takes no more connections.
func refuses(t *testing.T, s *Server) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; {
		conn, err := net.Dial("tcp", s.addr.String())
		if err != nil {
			return
		}
		conn.Close()
		if time.Now().After(deadline) {
			t.Fatal("it still listens")
		}
	}
}

func TestWhatIsUnderWayMayEnd(t *testing.T) {
	w := newWaiting()
	s, stop := running(t, Options{}, Pages{"/": w.page})
	said := ask(s.URL())
	<-w.asked
	stopped := make(chan error, 1)
	go func() { stopped <- stop() }()
	refuses(t, s)
	close(w.answer)
	if got := <-said; got != `200 "done" <nil>` {
		t.Errorf("the request under way got %s", got)
	}
	if err := <-stopped; err != nil {
		t.Errorf("Wait() = %v, want no error", err)
	}
}

// net/http would not notice by itself that the client is gone: it waits for
// the request's body before it looks.
func TestWhatDoesNotEndIsCutOff(t *testing.T) {
	began := make(chan struct{})
	s, stop := running(t, Options{StopTimeout: 50 * time.Millisecond}, Pages{"/": func(c *gin.Context) {
		close(began)
		<-c.Request.Context().Done()
	}})
	conn, err := net.Dial("tcp", s.addr.String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.Write(webtest.Request("GET", "/", "", "Host: localhost", "Content-Length: 5"))
	<-began
	want := "stopping " + s.URL() + ": cut off, as they had not ended after 50ms: 1 of its requests"
	if err := stop(); err == nil || err.Error() != want {
		t.Errorf("Wait() = %v, want %s", err, want)
	}
	if got, _ := io.ReadAll(conn); len(got) > 0 {
		t.Errorf("the client got %q, want nothing", got)
	}
}

func TestAPageThatNeverReturnsIsLeftBehind(t *testing.T) {
	w := newWaiting()
	s, stop := running(t, Options{StopTimeout: 50 * time.Millisecond}, Pages{"/": w.page})
	said := ask(s.URL())
	<-w.asked
	want := "stopping " + s.URL() + ": left behind, as they did not return even when cut off: 1 of its requests"
	if err := stop(); err == nil || err.Error() != want {
		t.Errorf("Wait() = %v, want %s", err, want)
	}
	close(w.answer)
	<-said
}

func TestAnIdleConnectionDoesNotHoldUpTheStop(t *testing.T) {
	s, stop := running(t, Options{StopTimeout: 50 * time.Millisecond}, helloPages)
	silent, err := net.Dial("tcp", s.addr.String()) // as browsers do, to have one at hand
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	get(t, s.URL()+"/pods") // it was accepted before this one
	if err := stop(); err != nil {
		t.Errorf("Wait() = %v, want no error: nothing was asked", err)
	}
}
