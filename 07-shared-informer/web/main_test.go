// What the tests of this package share: a server on a free port, and a client
// that reads its answers.

package web

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// running starts a server that is stopped with the test, or before. stop
// returns what Wait said.
func running(t testing.TB, opts Options, pages Pages) (s *Server, stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	opts.Addr = "127.0.0.1:0"
	s, err := Start(ctx, opts, pages)
	if err != nil {
		t.Fatal(err)
	}
	stop = sync.OnceValue(func() error { cancel(); return s.Wait() })
	t.Cleanup(func() { stop() })
	return s, stop
}

// client uses a connection for one request only, so that none is left open.
var client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 30 * time.Second}

func get(t testing.TB, url string) (status int, header http.Header, body string) {
	t.Helper()
	return do(t, http.MethodGet, url)
}

func do(t testing.TB, method, url string) (status int, header http.Header, body string) {
	t.Helper()
	request, err := http.NewRequest(method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, response.Header, string(text)
}

// hello is a page that answers with what it was asked.
func hello(c *gin.Context) {
	query, ok := Query(c, "app")
	if !ok {
		return
	}
	c.JSON(http.StatusOK, gin.H{"name": c.Param("name"), "value": c.Param("value"), "query": query})
}

// hello's pages have the patterns of the chapters': gin's tree has to choose
// between a word and a value at each part of a path.
var helloPages = Pages{"/": hello, "/pods": hello, "/indexes": hello, "/indexes/:name/:value": hello, "/:name": hello, "/:name/all": hello}

// logged returns what is logged from now on, until the test ends.
func logged(t *testing.T) func() string {
	var mu sync.Mutex
	var text strings.Builder
	before := slog.Default()
	t.Cleanup(func() { slog.SetDefault(before) })
	slog.SetDefault(slog.New(slog.NewTextHandler(writerFunc(func(p []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		return text.Write(p)
	}), nil)))
	return func() string {
		mu.Lock()
		defer mu.Unlock()
		return text.String()
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
