package requests

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"go.uber.org/goleak"
	"k8s.io/client-go/rest"

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
	must.NoError(t, err)
	defer client.CloseIdleConnections()
	send := func(method, path string) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, nil)
		must.NoError(t, err)
		response, err := client.Do(request)
		must.NoError(t, err)
		response.Body.Close()
	}
	wantCounts := func(want string) {
		t.Helper()
		if got := counter.String(); got != want {
			t.Errorf("String() = %q, want %q", got, want)
		}
	}
	wantWatching := func(want bool) {
		t.Helper()
		if got := counter.Watching(); got != want {
			t.Errorf("Watching() = %t, want %t", got, want)
		}
	}

	wantCounts("none")
	wantWatching(false)
	send(http.MethodGet, "/api/v1/nothing?watch=true") // the server refuses it
	wantWatching(false)
	counter.Reset()
	send(http.MethodGet, "/api/v1/pods")
	send(http.MethodGet, "/api/v1/pods?limit=500")
	send(http.MethodGet, "/api/v1/pods?limit=500&continue=x")
	send(http.MethodGet, "/api/v1/pods?watch=true")
	send(http.MethodGet, "/api/v1/pods?watch=true&sendInitialEvents=true")
	send(http.MethodPost, "/api/v1/pods")
	wantCounts("WATCH with the initial list 1, LIST 3, WATCH 1, other 1")
	wantWatching(true)
	if got := counter.Lists(); got != 4 {
		t.Errorf("Lists() = %d, want 4", got)
	}
	if got := counter.Watches(); got != 1 {
		t.Errorf("Watches() = %d, want 1", got)
	}
	counter.Reset()
	wantCounts("none")
	wantWatching(false)
}
