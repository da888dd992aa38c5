package web

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/informer/07-shared-informer/web/webtest"
)

// raw sends bytes, and returns all that comes back.
func raw(t *testing.T, s *Server, request string) string {
	t.Helper()
	conn, err := net.Dial("tcp", s.addr.String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(20 * time.Second))
	io.WriteString(conn, request)
	answer, err := io.ReadAll(conn)
	if err != nil {
		t.Errorf("%.50q: %v after %q", request, err, answer)
	}
	return string(answer)
}

func TestRefusals(t *testing.T) {
	s, _ := running(t, Options{}, helloPages)
	for request, want := range map[string]string{
		"\r\n":                       `400 Bad Request {"error":"refused before any page saw it: Bad Request"}`,
		"GET /pods HTTP/1.1\r\n\r\n": `400 Bad Request {"error":"refused before any page saw it: Bad Request: missing required Host header"}`,
		"GET /pods HTTP/3.1\r\nHost: localhost\r\n\r\n":                                               `400 Bad Request {"error":"refused before any page saw it: HTTP Version Not Supported: unsupported protocol version"}`,
		"GET /pods HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\n":                    `400 Bad Request {"error":"refused before any page saw it: Unsupported transfer encoding"}`,
		"GET /pods HTTP/1.1\r\nHost: localhost\r\nExpect: miracles\r\n\r\n":                           `417 Expectation Failed {"error":"refused before any page saw it: Expectation Failed"}`,
		"GET /pods HTTP/1.0\r\nHost: localhost\r\nExpect: miracles\r\n\r\n":                           `417 Expectation Failed {"error":"refused before any page saw it: Expectation Failed"}`,
		"GET /pods HTTP/1.1\r\nHost: localhost\r\nX: " + long + strings.Repeat(long, 30) + "\r\n\r\n": `431 Request Header Fields Too Large {"error":"refused before any page saw it: Request Header Fields Too Large"}`,
	} {
		status, body, _ := strings.Cut(want, " {")
		body = "{" + body
		want := fmt.Sprintf("HTTP/1.1 %s\r\nCache-Control: no-store\r\nConnection: close\r\nContent-Length: %d\r\n"+
			"Content-Type: application/json; charset=utf-8\r\nX-Content-Type-Options: nosniff\r\n\r\n%s", status, len(body), body)
		if got := raw(t, s, request); got != want {
			t.Errorf("%.80q: got\n%s\nwant\n%s", request, got, want)
		}
	}
}

// The second request is refused, the first was not.
func TestARefusalAfterAnAnswer(t *testing.T) {
	s, _ := running(t, Options{}, helloPages)
	got := raw(t, s, "GET /pods HTTP/1.1\r\nHost: localhost\r\n\r\nnonsense\r\n\r\n")
	if !strings.HasPrefix(got, "HTTP/1.1 200 OK\r\n") || !strings.HasSuffix(got, `{"error":"refused before any page saw it: Bad Request"}`) {
		t.Errorf("got %s", got)
	}
}

// A client that has sent more than was read still gets its answer.
func TestTheRestOfARefusedRequestIsRead(t *testing.T) {
	s, _ := running(t, Options{}, helloPages)
	for range 50 {
		if status := webtest.Send(t, s.URL(), []byte("nonsense\r\n"+strings.Repeat(long, 200))); status != http.StatusBadRequest {
			t.Fatalf("status %d", status)
		}
	}
}

// What is no refusal is not taken for one, wherever a write begins.
func TestAnswersThatSpeakOfRefusals(t *testing.T) {
	const text = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n400 Bad Request"
	if !refused.MatchString(text) {
		t.Fatal("it would be one of net/http's")
	}
	for _, other := range []string{
		"HTTP/1.1 400 Bad Request", "HTTP/1.1 400 Bad Request\r\n2000\r\n", // the end of a chunk, and the next one
		strings.ReplaceAll(text, "\r\n", `\r\n`), " " + text,
		"HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n[]",
	} {
		if refused.MatchString(other) {
			t.Errorf("%q is taken for a refusal", other)
		}
	}
	var items []string
	for n := range 100 {
		items = append(items, strings.Repeat("x", n), strings.Repeat(text, 100))
	}
	pages := page(slices.Values(items))
	pages["/short"] = func(c *gin.Context) { c.JSON(http.StatusOK, text) }
	s, _ := running(t, Options{}, pages)
	if status, _, body := get(t, s.URL()); status != 200 || strings.Count(body, "400 Bad Request") != 2*100*100 || !strings.HasSuffix(body, "]\n") {
		t.Errorf("got %d and %d bytes", status, len(body))
	}
	if status, _, body := get(t, s.URL()+"/short"); status != 200 || strings.Count(body, "400 Bad Request") != 2 {
		t.Errorf("got %d %s", status, body)
	}
}
