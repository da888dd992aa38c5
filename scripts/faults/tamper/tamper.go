// Package tamper sits between an informer's client and its transport: it
// answers in the server's place, holds answers back, changes the frames of a
// watch, and keeps count of what was asked and answered.
package tamper

import (
	"fmt"
	"maps"
	"net/http"
	"path"
	"sync"
)

// A Transport is a RoundTripper that passes everything on, until told otherwise.
type Transport struct {
	next http.RoundTripper

	mu      sync.Mutex
	rule    Rule
	streams map[*stream]bool
	counts  map[Count]int
}

// A Rule answers a request, or has next do so.
type Rule func(request *http.Request, next http.RoundTripper) (*http.Response, error)

// Count is a kind of request and its outcome.
type Count struct {
	Resource string // such as pods
	Verb     string // LIST, PAGE, STREAM (a watch with the list in front), WATCH
	Outcome  string // the HTTP status, "failed", or for a watch "ERROR" and a status
}

// New returns a transport in front of next.
func New(next http.RoundTripper) *Transport {
	return &Transport{next: next, streams: map[*stream]bool{}, counts: map[Count]int{}}
}

// WrappedRoundTripper lets client-go find the connections below, to close them.
func (t *Transport) WrappedRoundTripper() http.RoundTripper { return t.next }

// RoundTrip implements http.RoundTripper.
func (t *Transport) RoundTrip(request *http.Request) (*http.Response, error) {
	t.mu.Lock()
	rule := t.rule
	t.mu.Unlock()
	asked := Count{Resource: path.Base(request.URL.Path), Verb: Verb(request)}
	var response *http.Response
	var err error
	if rule != nil {
		response, err = rule(request, t.next)
	} else {
		response, err = t.next.RoundTrip(request)
	}
	asked.Outcome = "failed"
	if err == nil {
		asked.Outcome = fmt.Sprint(response.StatusCode)
		if response.StatusCode == http.StatusOK && (asked.Verb == "WATCH" || asked.Verb == "STREAM") {
			response.Body = t.newStream(asked, response.Body)
		}
	}
	t.count(asked)
	return response, err
}

// Verb names what a request asks for.
func Verb(request *http.Request) string {
	query := request.URL.Query()
	switch {
	case query.Get("sendInitialEvents") == "true":
		return "STREAM"
	case query.Get("watch") != "":
		return "WATCH"
	case query.Get("continue") != "":
		return "PAGE"
	default:
		return "LIST"
	}
}

// SetRule has rule answer from now on; nil ends it.
func (t *Transport) SetRule(rule Rule) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rule = rule
}

func (t *Transport) count(c Count) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.counts[c]++
}

// Counts returns how often each outcome was seen.
func (t *Transport) Counts() map[Count]int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.counts)
}

// Outcomes is how often an outcome was seen, whatever was asked for.
func (t *Transport) Outcomes(outcome string) int {
	n := 0
	for c, times := range t.Counts() {
		if c.Outcome == outcome {
			n += times
		}
	}
	return n
}

// Lists is how many lists of a resource came back, plain or as a stream.
func (t *Transport) Lists(resource string) int {
	counts := t.Counts()
	return counts[Count{resource, "LIST", "200"}] + counts[Count{resource, "STREAM", "200"}]
}
