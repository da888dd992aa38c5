// What the tests of this package share: a server on a free port, and a client.

package web

import (
	"context"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"go.uber.org/goleak"

	"example.com/informer/scripts/harness/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// running starts a server, which stops at the end of the test.
func running(t testing.TB, pages Pages, guards ...gin.HandlerFunc) *Server {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s, err := Start(ctx, "127.0.0.1:0", pages, guards...)
	must.NoError(t, err)
	t.Cleanup(func() { cancel(); must.NoError(t, s.Wait()) })
	return s
}

// client uses a connection for one request only, so that no connection stays open.
// It follows no redirect.
var client = &http.Client{
	Transport:     &http.Transport{DisableKeepAlives: true},
	Timeout:       time.Minute,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// do sends a request. The host is that of the URL if it is empty.
func do(t testing.TB, method, url, host string) (status int, header http.Header, body string) {
	t.Helper()
	request, err := http.NewRequest(method, url, nil)
	must.NoError(t, err)
	request.Host = host
	return send(t, request)
}

func send(t testing.TB, request *http.Request) (status int, header http.Header, body string) {
	t.Helper()
	response, err := client.Do(request)
	must.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	must.NoError(t, err)
	return response.StatusCode, response.Header, string(text)
}

// hello is a page that answers with its parameters.
func hello(c *gin.Context) {
	if query, ok := Query(c, "app"); ok {
		c.JSON(http.StatusOK, gin.H{"name": c.Param("name"), "value": c.Param("value"), "query": query})
	}
}

// helloPages have patterns like the pages of the chapters. At each part of a path, gin has to
// choose between a word and a parameter.
var helloPages = Pages{
	"/":                     hello,
	"/pods":                 hello,
	"/indexes":              hello,
	"/indexes/:name/:value": hello,
	"/:name":                hello,
	"/:name/all":            hello,
}
