// The faults, and the counts.

package httpfault

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/requests"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const first, second = `{"type":"ADDED","object":{"metadata":{"name":"a"}}}`,
	`{"type":"MODIFIED","object":{"metadata":{"name":"a"}}}`

// openWatch returns a transport and the body of a watch of two frames. The
// server sends one for each value in the channel.
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
	must.Do(t, err)
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
			left := transport.Pending()
			expect.That(t, left == 1, "%d watches wait for the fault", left)
			send <- struct{}{}
			send <- struct{}{}
			got, err := io.ReadAll(body)
			must.Do(t, err)
			lines := strings.Split(strings.TrimSuffix(string(got), "\n"), "\n")
			if len(lines) != len(test.want) {
				t.Fatalf("got %q", lines)
			}
			for i, line := range lines {
				expect.That(t, strings.HasPrefix(line, test.want[i]), "line %d is %q, want %q", i+1, line, test.want[i])
			}
			left = transport.Pending()
			expect.That(t, left == 0, "%d watches still wait for the fault", left)
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
		must.Do(t, err)
		response.Body.Close()
		return response
	}
	get("/api/v1/pods")
	transport.SetRule(Refuse(apierrors.NewTooManyRequests("made up", 1)))
	r := get("/api/v1/pods?limit=1&continue=x")
	expect.That(t, r.StatusCode == 429 && r.Header.Get("Retry-After") == "1", "got %v", r)
	transport.SetRule(Pass)
	get("/api/v1/pods?watch=true&sendInitialEvents=true")
	n := transport.Requests("pods", "200", requests.List, requests.WatchList)
	expect.That(t, n == 2, "%d answers", n)
	next := Count{"pods", requests.NextPage, "429"}
	expect.That(t, transport.Counts()[next] == 1 && transport.Requests("", "429") == 1,
		"counted %v", transport.Counts())
}

func TestErrorsInWatchesAreCounted(t *testing.T) {
	for frame, want := range map[string]int{
		first: 0, `{"type":"ERROR","object":{"code":410}}`: 410, `{"type":"ERROR","object":7}`: -1,
	} {
		got := errorCode([]byte(frame))
		expect.That(t, got == want, "errorCode(%s) = %d, want %d", frame, got, want)
	}
}
