//go:build browser

// A server before the reader, for a test that ends the reader and starts the next one.

package browser

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"

	"example.com/informer/scripts/harness/must"
)

// A relay is a server that gives a reader an address that stays: the next reader gets another port if
// some program has taken the port meanwhile.
type relay struct {
	*httptest.Server
	reader atomic.Pointer[url.URL] // nil if there is none: then the relay answers nothing
}

func newRelay(t *testing.T) *relay {
	t.Helper()
	l := &relay{}
	l.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		reader := l.reader.Load()
		if reader == nil {
			panic(http.ErrAbortHandler) // ends the connection
		}
		proxy := httputil.ReverseProxy{
			Rewrite: func(r *httputil.ProxyRequest) {
				r.SetURL(reader)
				r.Out.Host = r.In.Host
			},
			ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
		}
		proxy.ServeHTTP(w, request)
	}))
	t.Cleanup(l.Close)
	return l
}

// startReader starts a reader behind the relay. Its URL is one of the relay.
func (l *relay) startReader(t *testing.T, folder string) *Program {
	t.Helper()
	program, err := StartReader(context.WithoutCancel(t.Context()), readerProgram, folder)
	must.NoError(t, err)
	address, err := url.Parse(program.URL)
	must.NoError(t, err)
	l.reader.Store(&url.URL{Scheme: address.Scheme, Host: address.Host})
	program.URL = l.URL + address.RequestURI()
	return program
}
