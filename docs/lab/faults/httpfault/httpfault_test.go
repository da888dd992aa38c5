// Tests of the faults, of the rules, and of the counts.

package httpfault

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/requests"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The frames of the watch.
const (
	first  = `{"type":"ADDED","object":{"metadata":{"name":"a"}}}`
	second = `{"type":"MODIFIED","object":{"metadata":{"name":"a"}}}`
)

// openWatch returns a transport, and the body of a watch with two frames. The server sends a frame
// for each element of the channel.
func openWatch(t *testing.T) (*Transport, *bufio.Reader, chan<- struct{}) {
	t.Helper()
	send := make(chan struct{}, 2)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusOK)
		for _, frame := range []string{first, second} {
			w.(http.Flusher).Flush()
			<-send
			fmt.Fprintln(w, frame)
		}
	}))
	t.Cleanup(server.Close)
	pool := &http.Transport{}
	t.Cleanup(pool.CloseIdleConnections)
	transport := New(pool)
	response, err := (&http.Client{Transport: transport}).Get(server.URL + "/api/v1/pods?watch=true")
	must.NoError(t, err)
	t.Cleanup(func() { response.Body.Close() })
	return transport, bufio.NewReader(response.Body), send
}

func TestFrameFaults(t *testing.T) {
	for name, test := range map[string]struct {
		fault FrameFault
		want  []string // how the lines begin
	}{
		"cut":     {Cut, []string{first[:len(first)/2]}},
		"garbage": {Garbage, []string{"<html>", first, second}},
		"unknown type": {UnknownType, []string{`{"type":"EXPLODED","object":{"metadata":{"name":"a"}}}`, first,
			second}},
		"error":      {ErrorEvent, []string{`{"type":"ERROR"`, first, second}},
		"expired":    {Expired, []string{`{"type":"ERROR"`, first, second}},
		"wrong kind": {WrongKind, []string{`{"type":"ADDED","object":{"kind":"Secret"`, first, second}},
		"no name":    {NoName, []string{`{"type":"ADDED","object":{"metadata":{}}}`, first, second}},
	} {
		t.Run(name, func(t *testing.T) {
			transport, body, send := openWatch(t)
			transport.Inject(test.fault)
			if got := transport.Pending(); got != 1 {
				t.Errorf("before the next frame, Pending() = %d, want 1", got)
			}
			send <- struct{}{}
			send <- struct{}{}
			got, err := io.ReadAll(body)
			must.NoError(t, err)
			lines := strings.Split(strings.TrimSuffix(string(got), "\n"), "\n")
			if len(lines) != len(test.want) {
				t.Fatalf("the watch has %d lines, want %d:\n%q\nwant lines that begin with\n%q",
					len(lines), len(test.want), lines, test.want)
			}
			for i, line := range lines {
				if !strings.HasPrefix(line, test.want[i]) {
					t.Errorf("line %d is %q, want a line that begins with %q", i+1, line, test.want[i])
				}
			}
			if got := transport.Pending(); got != 0 {
				t.Errorf("after the next frame, Pending() = %d, want 0", got)
			}
		})
	}
}

func TestRuleAndCounts(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	pool := &http.Transport{}
	defer pool.CloseIdleConnections()
	transport := New(pool)
	get := func(path string) *http.Response {
		t.Helper()
		response, err := (&http.Client{Transport: transport}).Get(server.URL + path)
		must.NoError(t, err)
		response.Body.Close()
		return response
	}
	get("/api/v1/pods")
	transport.SetRule(Refuse(apierrors.NewTooManyRequests("made up", 1)))
	r := get("/api/v1/pods?limit=1&continue=x")
	if got, want := r.StatusCode, http.StatusTooManyRequests; got != want {
		t.Errorf("the status of a refused request is %d, want %d", got, want)
	}
	if got, want := r.Header.Get("Retry-After"), "1"; got != want {
		t.Errorf("the Retry-After of a refused request is %q, want %q", got, want)
	}
	transport.SetRule(Pass)
	get("/api/v1/pods?watch=true&sendInitialEvents=true")
	if got := transport.Requests("pods", "200", requests.List, requests.WatchList); got != 2 {
		t.Errorf("Requests(pods, 200, List, WatchList) = %d, want 2", got)
	}
	if got := transport.Requests("", "429"); got != 1 {
		t.Errorf("Requests(any, 429) = %d, want 1", got)
	}
	want := map[Count]int{
		{Resource: "pods", Verb: requests.List, Outcome: "200"}:      1,
		{Resource: "pods", Verb: requests.NextPage, Outcome: "429"}:  1,
		{Resource: "pods", Verb: requests.WatchList, Outcome: "200"}: 1,
	}
	if diff := cmp.Diff(want, transport.Counts()); diff != "" {
		t.Errorf("Counts() differs (-want +got):\n%s", diff)
	}
}

func TestErrorsInWatchesAreCounted(t *testing.T) {
	for frame, want := range map[string]int{
		first: 0, `{"type":"ERROR","object":{"code":410}}`: 410, `{"type":"ERROR","object":7}`: -1,
	} {
		got := errorCode([]byte(frame))
		if got != want {
			t.Errorf("errorCode(%s) = %d, want %d", frame, got, want)
		}
	}
}
