// Package httpfault injects faults between an informer's client and its
// transport: it answers in the server's place, delays answers, changes the frames
// of a watch, and counts requests by their outcomes.
package httpfault

import (
	"fmt"
	"maps"
	"net/http"
	"path"
	"sync"

	"example.com/informer/scripts/harness/requests"
)

// A Transport is a RoundTripper that passes everything on, until SetRule or Inject.
type Transport struct {
	next http.RoundTripper

	mu      sync.Mutex
	rule    Rule
	streams map[*stream]bool
	counts  map[Count]int
}

// A Rule answers a request, or passes it on to next.
type Rule func(request *http.Request, next http.RoundTripper) (*http.Response, error)

// Count is a kind of request and its outcome.
type Count struct {
	Resource string // such as pods
	Verb     requests.Verb
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
	count := Count{Resource: path.Base(request.URL.Path), Verb: requests.VerbOf(request)}
	var response *http.Response
	var err error
	if rule != nil {
		response, err = rule(request, t.next)
	} else {
		response, err = t.next.RoundTrip(request)
	}
	count.Outcome = "failed"
	if err == nil {
		count.Outcome = fmt.Sprint(response.StatusCode)
		if response.StatusCode == http.StatusOK && count.Verb.Watches() {
			response.Body = t.newStream(count, response.Body)
		}
	}
	t.add(count)
	return response, err
}

// SetRule lets rule answer from now on; nil ends it.
func (t *Transport) SetRule(rule Rule) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rule = rule
}

func (t *Transport) add(c Count) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.counts[c]++
}

// Counts returns how many requests there were of each kind and outcome.
func (t *Transport) Counts() map[Count]int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.counts)
}

// Outcomes is how many requests of any kind had an outcome.
func (t *Transport) Outcomes(outcome string) int {
	n := 0
	for c, times := range t.Counts() {
		if c.Outcome == outcome {
			n += times
		}
	}
	return n
}

// Lists is how many lists of a resource were answered, plain or in a watch.
func (t *Transport) Lists(resource string) int {
	counts := t.Counts()
	return counts[Count{resource, requests.List, "200"}] + counts[Count{resource, requests.WatchList, "200"}]
}
