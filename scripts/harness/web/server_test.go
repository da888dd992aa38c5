// How a server starts, and how many requests it takes at the same time.

package web

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/gin-gonic/gin"

	"example.com/informer/scripts/harness/must"
)

func TestAnAddressThatCannotBeListenedOn(t *testing.T) {
	for addr, want := range map[string]string{
		running(t, nil).addr.String(): "address already in use",
		"localhost":                   "missing port in address",
		"127.0.0.1:70000":             "invalid port",
		"192.0.2.1:4000":              "192.0.2.1:4000: bind: ",
	} {
		_, err := Start(t.Context(), addr, nil)
		if err == nil {
			t.Errorf("Start(%q) = _, nil; want an error with %q", addr, want)
			continue
		}
		for _, part := range []string{want, "-addr"} { // the cause, and what to do
			if !strings.Contains(err.Error(), part) {
				t.Errorf("Start(%q): error %q, want %q in it", addr, err, part)
			}
		}
	}
}

func TestAddr(t *testing.T) {
	for _, test := range []struct {
		given  string
		follow bool
		want   string
	}{
		{"", false, "127.0.0.1:0"},
		{"", true, "127.0.0.1:4000"},
		{"localhost:0", false, "localhost:0"},
		{"localhost:0", true, "localhost:0"},
	} {
		if got := Addr(test.given, test.follow); got != test.want {
			t.Errorf("Addr(%q, %t) = %q, want %q", test.given, test.follow, got, test.want)
		}
	}
}

func TestURL(t *testing.T) {
	for addr, want := range map[string]string{"127.0.0.1:0": "http://127.0.0.1:", ":0": "http://localhost:"} {
		ctx, cancel := context.WithCancel(t.Context())
		s, err := Start(ctx, addr, helloPages)
		must.NoError(t, err)
		if got := s.URL(); !strings.HasPrefix(got, want) {
			t.Errorf("listening on %s: URL() = %q, want %q at its start", addr, got, want)
		}
		if status, _, body := do(t, "GET", s.URL()+"/pods", ""); status != 200 {
			t.Errorf("listening on %s: GET %s/pods: got %d %s, want 200", addr, s.URL(), status, body)
		}
		cancel()
		must.NoError(t, s.Wait())
	}
}

func TestTooManyRequests(t *testing.T) {
	asked, answer := make(chan struct{}), make(chan struct{})
	s := running(t, Pages{"/": func(c *gin.Context) {
		asked <- struct{}{}
		<-answer
		c.JSON(http.StatusOK, "done")
	}})
	var asking sync.WaitGroup
	for range maxRequests {
		asking.Go(func() {
			if status, _, body := do(t, "GET", s.URL(), ""); status != 200 {
				t.Errorf("a request within the limit: got %d %s, want 200", status, body)
			}
		})
		<-asked
	}
	status, header, body := do(t, "GET", s.URL()+"/no/such/page", "")
	want := `{"error":"the limit of requests at one time is reached, which is 64: try again"}`
	if status != 503 || body != want {
		t.Errorf("a request above the limit: got %d %s\nwant 503 %s", status, body, want)
	}
	if got := header.Get("Retry-After"); got != "1" {
		t.Errorf("a request above the limit: header Retry-After is %q, want 1", got)
	}
	close(answer)
	asking.Wait()
	if status, _, body := do(t, "GET", s.URL()+"/no/such/page", ""); status != 404 {
		t.Errorf("a request after all of them: got %d %s, want 404", status, body)
	}
}
