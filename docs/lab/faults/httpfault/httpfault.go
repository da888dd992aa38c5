// Package httpfault injects faults between an informer's client and its
// transport: it answers in the server's place, delays answers, changes the frames
// of a watch, and counts requests by their outcomes.
package httpfault

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strconv"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

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
	return &Transport{next: next, rule: Pass, streams: map[*stream]bool{}, counts: map[Count]int{}}
}

// Pass is a rule that lets the server answer.
func Pass(request *http.Request, next http.RoundTripper) (*http.Response, error) {
	return next.RoundTrip(request)
}

// WrappedRoundTripper lets client-go find the connections below, to close them.
func (t *Transport) WrappedRoundTripper() http.RoundTripper { return t.next }

// RoundTrip implements http.RoundTripper.
func (t *Transport) RoundTrip(request *http.Request) (*http.Response, error) {
	t.mu.Lock()
	rule := t.rule
	t.mu.Unlock()
	count := Count{path.Base(request.URL.Path), requests.VerbOf(request), "failed"}
	response, err := rule(request, t.next)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil {
		count.Outcome = strconv.Itoa(response.StatusCode)
		if response.StatusCode == http.StatusOK && count.Verb.Watches() {
			s := &stream{transport: t, request: count, body: response.Body, frames: json.NewDecoder(response.Body)}
			t.streams[s] = true
			response.Body = s
		}
	}
	t.counts[count]++
	return response, err
}

// SetRule lets rule answer from now on.
func (t *Transport) SetRule(rule Rule) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rule = rule
}

// Refuse is a rule that answers every request with an error. The client is to
// wait for as many seconds as the error says.
func Refuse(status *apierrors.StatusError) Rule {
	return func(request *http.Request, _ http.RoundTripper) (*http.Response, error) {
		answer := httptest.NewRecorder()
		answer.Header().Set("Content-Type", "application/json")
		if details := status.ErrStatus.Details; details != nil && details.RetryAfterSeconds > 0 {
			answer.Header().Set("Retry-After", fmt.Sprint(details.RetryAfterSeconds))
		}
		answer.WriteHeader(int(status.ErrStatus.Code))
		err := json.NewEncoder(answer).Encode(status.ErrStatus)
		response := answer.Result()
		response.Request = request
		return response, err
	}
}

// Counts returns how many requests there were of each kind and outcome.
func (t *Transport) Counts() map[Count]int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.counts)
}

// Requests is how many requests there were, of these verbs if any is given. An empty
// resource or outcome stands for any.
func (t *Transport) Requests(resource, outcome string, verbs ...requests.Verb) (n int) {
	for c, times := range t.Counts() {
		if cmp.Or(resource, c.Resource) == c.Resource && cmp.Or(outcome, c.Outcome) == c.Outcome &&
			(len(verbs) == 0 || slices.Contains(verbs, c.Verb)) {
			n += times
		}
	}
	return n
}
