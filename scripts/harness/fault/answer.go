package fault

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// An Answer answers a request, or passes it on to the next http.RoundTripper.
type Answer func(request *http.Request, next http.RoundTripper) (*http.Response, error)

// pass lets the server answer.
func pass(request *http.Request, next http.RoundTripper) (*http.Response, error) {
	return next.RoundTrip(request)
}

// A transport is the http.RoundTripper of a client, in front of the next one.
type transport struct {
	next   http.RoundTripper
	answer Answer
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(request *http.Request) (*http.Response, error) {
	return t.answer(request, t.next)
}

// WrappedRoundTripper lets client-go find the transport below, to close its connections.
func (t *transport) WrappedRoundTripper() http.RoundTripper { return t.next }

// Refuse answers with an error of the API server. If the error has RetryAfterSeconds, the answer has
// a Retry-After header.
func Refuse(err *apierrors.StatusError) Answer {
	return func(request *http.Request, _ http.RoundTripper) (*http.Response, error) {
		body, failed := json.Marshal(err.ErrStatus)
		response := Respond(request, int(err.ErrStatus.Code), bytes.NewReader(body))
		if details := err.ErrStatus.Details; details != nil && details.RetryAfterSeconds > 0 {
			response.Header.Set("Retry-After", fmt.Sprint(details.RetryAfterSeconds))
		}
		return response, failed
	}
}

// Respond returns a response with a body in JSON.
func Respond(request *http.Request, status int, body io.Reader) *http.Response {
	closer, ok := body.(io.ReadCloser)
	if !ok {
		closer = io.NopCloser(body)
	}
	header := http.Header{"Content-Type": {"application/json"}}
	return &http.Response{StatusCode: status, Header: header, Body: closer, Request: request}
}

// A RoundTripper answers requests in the place of a server: it is the Transport of a rest.Config.
type RoundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f RoundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// A Hold holds requests until Release. Then the server answers them.
type Hold struct {
	remove   func() int
	released chan struct{}
	release  sync.Once

	mu            sync.Mutex
	held, pending int
}

// Hold adds a rule that holds the requests that match: so many of them, or all if times is 0.
func (r *Requests) Hold(times int, matches func(*Request) bool) *Hold {
	h := &Hold{released: make(chan struct{})}
	h.remove = r.Add(Rule{Matches: matches, Times: times, Answer: h.answer})
	return h
}

func (h *Hold) answer(request *http.Request, next http.RoundTripper) (*http.Response, error) {
	h.count(1, 1)
	defer h.count(0, -1)
	select {
	case <-h.released:
		return next.RoundTrip(request)
	case <-request.Context().Done():
		return nil, request.Context().Err()
	}
}

func (h *Hold) count(held, pending int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.held += held
	h.pending += pending
}

// Held returns how many requests it has held so far.
func (h *Hold) Held() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.held
}

// Pending returns how many of these requests have no answer yet.
func (h *Hold) Pending() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.pending
}

// Release lets the requests go on. The Hold holds no others.
func (h *Hold) Release() {
	h.remove()
	h.release.Do(func() { close(h.released) })
}
