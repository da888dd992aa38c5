package fault

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"example.com/informer/scripts/harness/must"
)

// The frames of the watch.
const (
	first  = `{"type":"ADDED","object":{"metadata":{"name":"a"}}}`
	second = `{"type":"MODIFIED","object":{"metadata":{"name":"a"}}}`
)

// openWatch returns the body of a watch with two frames. The server sends a frame for each element of
// the channel.
func openWatch(t *testing.T) (*Frames, *bufio.Reader, chan<- struct{}) {
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
	frames := &Frames{}
	response, err := (&http.Client{Transport: frames.Wrap(pool)}).Get(server.URL + "/api/v1/pods?watch=true")
	must.NoError(t, err)
	t.Cleanup(func() { response.Body.Close() })
	return frames, bufio.NewReader(response.Body), send
}

func TestFrameFaults(t *testing.T) {
	for name, test := range map[string]struct {
		fault FrameFault
		want  []string // how the lines begin
	}{
		"cut":     {CutFrame, []string{first[:len(first)/2]}},
		"garbage": {Garbage, []string{"<html>", first, second}},
		"unknown type": {UnknownType, []string{`{"type":"EXPLODED","object":{"metadata":{"name":"a"}}}`, first,
			second}},
		"error":      {ErrorEvent, []string{`{"type":"ERROR"`, first, second}},
		"expired":    {Expired, []string{`{"type":"ERROR"`, first, second}},
		"wrong kind": {WrongKind, []string{`{"type":"ADDED","object":{"kind":"Secret"`, first, second}},
		"no name":    {NoName, []string{`{"type":"ADDED","object":{"metadata":{}}}`, first, second}},
	} {
		t.Run(name, func(t *testing.T) {
			frames, body, send := openWatch(t)
			frames.Inject(test.fault)
			if got := frames.Pending(); got != 1 {
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
			if got := frames.Pending(); got != 0 {
				t.Errorf("after the next frame, Pending() = %d, want 0", got)
			}
		})
	}
}

func TestErrorsInWatchesAreCounted(t *testing.T) {
	for frame, want := range map[string]int{
		`{"type":"ERROR","object":{"code":410}}`: 410,
		`{"type":"ERROR","object":7}`:            -1,
	} {
		var frames Frames
		client := &http.Client{Transport: frames.Wrap(RoundTripper(func(r *http.Request) (*http.Response, error) {
			return Respond(r, http.StatusOK, strings.NewReader(first+frame)), nil
		}))}
		response, err := client.Get("http://server/api/v1/pods?watch=true")
		must.NoError(t, err)
		_, err = io.Copy(io.Discard, response.Body)
		must.NoError(t, err)
		response.Body.Close()
		if got := frames.Errors(want); got != 1 {
			t.Errorf("%s: Errors(%d) = %d, want 1", frame, want, got)
		}
	}
}
