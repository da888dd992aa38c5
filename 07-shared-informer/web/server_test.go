// How a server starts, and how much it takes on.

package web

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/gin-gonic/gin"

	"example.com/informer/scripts/harness/expect"
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
		expect.That(t, err != nil && strings.Contains(err.Error(), want) && strings.Contains(err.Error(), "-addr"),
			"%q: got %v\nwant %s, and what to do", addr, err, want)
	}
}

func TestURL(t *testing.T) {
	for addr, want := range map[string]string{"127.0.0.1:0": "http://127.0.0.1:", ":0": "http://localhost:"} {
		ctx, cancel := context.WithCancel(t.Context())
		s, err := Start(ctx, addr, helloPages)
		must.Do(t, err)
		if status, _, body := do(t, "GET", s.URL()+"/pods", ""); !strings.HasPrefix(s.URL(), want) || status != 200 {
			t.Errorf("%s: got %s, %d %s; want %s", addr, s.URL(), status, body, want)
		}
		cancel()
		must.Do(t, s.Wait())
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
				t.Errorf("got %d %s", status, body)
			}
		})
		<-asked
	}
	status, header, body := do(t, "GET", s.URL()+"/no/such/page", "")
	want := `{"error":"the limit of requests at one time is reached, which is 64: try again"}`
	expect.That(t, status == 503 && header.Get("Retry-After") == "1" && body == want,
		"got %d, Retry-After %q, %s\nwant 503, 1, %s", status, header.Get("Retry-After"), body, want)
	close(answer)
	asking.Wait()
	if status, _, body := do(t, "GET", s.URL()+"/no/such/page", ""); status != 404 {
		t.Errorf("after that: %d %s", status, body)
	}
}
