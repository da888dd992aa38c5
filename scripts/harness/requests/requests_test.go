// What is counted, and as what.

package requests

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"go.uber.org/goleak"
	"k8s.io/client-go/rest"

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestCounter(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/v1/pods" {
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	var counter Counter
	config := &rest.Config{Host: server.URL}
	counter.Count(config)
	client, err := rest.HTTPClientFor(config)
	must.Do(t, err)
	defer client.CloseIdleConnections()
	ask := func(method, path string) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, nil)
		must.Do(t, err)
		response, err := client.Do(request)
		must.Do(t, err)
		response.Body.Close()
	}

	expect.That(t, counter.String() == "none" && !counter.Watching(),
		"at first: %s, watching: %t", &counter, counter.Watching())
	ask(http.MethodGet, "/api/v1/nothing?watch=true")
	expect.That(t, !counter.Watching(), "watching, though the server refused the watch")
	counter.Reset()
	ask(http.MethodGet, "/api/v1/pods")
	ask(http.MethodGet, "/api/v1/pods?limit=500")
	ask(http.MethodGet, "/api/v1/pods?limit=500&continue=x")
	ask(http.MethodGet, "/api/v1/pods?watch=true")
	ask(http.MethodGet, "/api/v1/pods?watch=true&sendInitialEvents=true")
	ask(http.MethodPost, "/api/v1/pods")
	got, want := counter.String(), "WATCH with the initial list 1, LIST 3, WATCH 1, other 1"
	expect.That(t, got == want, "counted %q, want %q", got, want)
	expect.That(t, counter.Lists() == 4 && counter.Watches() == 1 && counter.Watching(),
		"lists %d, watches %d, watching %t; want 4, 1, true", counter.Lists(), counter.Watches(), counter.Watching())
	counter.Reset()
	expect.That(t, counter.String() == "none", "after a reset: %s", &counter)
}
