package fault

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Requests records the requests of clients to the API server. Its rules answer requests in the place
// of the server, or hold them. The zero value is ready for use, and passes all requests on.
type Requests struct {
	mu    sync.Mutex
	sent  []*Request
	rules []*Rule
}

// Wrap puts Requests in front of a client's connections. It is an argument for rest.Config.Wrap.
func (r *Requests) Wrap(next http.RoundTripper) http.RoundTripper {
	return &transport{next: next, answer: r.answer}
}

func (r *Requests) answer(httpRequest *http.Request, next http.RoundTripper) (*http.Response, error) {
	httpRequest, sent, err := readRequest(httpRequest)
	if err != nil {
		return nil, err
	}
	if err := httpRequest.Context().Err(); err != nil {
		return nil, err // it is not sent
	}
	response, err := r.begin(sent)(httpRequest, next)
	r.end(sent, response)
	return response, err
}

// begin records a request, and returns who answers it: the first rule that matches, or the server.
func (r *Requests) begin(sent *Request) Answer {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sent = append(r.sent, sent)
	for _, rule := range r.rules {
		if rule.matches(sent) {
			return rule.Answer
		}
	}
	return pass
}

func (r *Requests) end(sent *Request, response *http.Response) {
	r.mu.Lock()
	defer r.mu.Unlock()
	sent.Ended = time.Now()
	if response != nil {
		sent.Status = response.StatusCode
	}
}

// Mark returns the number of requests so far. Find with this mark looks at those after it.
func (r *Requests) Mark() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.sent)
}

// Find returns the requests after a mark that match. The mark 0 stands for the beginning.
func (r *Requests) Find(mark int, matches func(*Request) bool) (found []Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, sent := range r.sent[mark:] {
		if matches(sent) {
			found = append(found, *sent)
		}
	}
	return found
}

// Count returns how many requests match.
func (r *Requests) Count(matches func(*Request) bool) int { return len(r.Find(0, matches)) }

// Lists returns how many requests asked for a list, plain or as a stream. Each page is a request.
func (r *Requests) Lists() int { return r.Count(func(sent *Request) bool { return sent.Verb.Lists() }) }

// Watches returns how many requests asked for a watch from a version, without the list.
func (r *Requests) Watches() int {
	return r.Count(func(sent *Request) bool { return sent.Verb == Watch })
}

// Watching reports whether the server has accepted a watch, with the list or without. The client
// gets every event from then on.
func (r *Requests) Watching() bool {
	return r.Count(func(sent *Request) bool { return sent.Verb.Watches() && sent.Status == http.StatusOK }) > 0
}

// String lists the counts, such as "LIST 1, WATCH 1", or "none".
func (r *Requests) String() string {
	counts := map[Verb]int{}
	for _, sent := range r.Find(0, func(*Request) bool { return true }) {
		verb := Other
		switch {
		case sent.Verb == NextPage:
			verb = List
		case sent.Verb.Lists() || sent.Verb.Watches():
			verb = sent.Verb
		}
		counts[verb]++
	}
	var texts []string
	for _, verb := range []Verb{WatchList, List, Watch, Other} {
		if n := counts[verb]; n > 0 {
			texts = append(texts, fmt.Sprintf("%s %d", verb, n))
		}
	}
	return cmp.Or(strings.Join(texts, ", "), "none")
}

// Reset forgets the requests so far. The rules stay.
func (r *Requests) Reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sent = nil
}

// A Rule says what becomes of the requests that match it.
type Rule struct {
	Matches func(*Request) bool // nil: all requests
	Times   int                 // how many requests it answers; 0: all that match
	Answer  Answer

	answered int // guarded by Requests.mu
}

// matches reports whether the rule answers this request. The caller holds Requests.mu.
func (r *Rule) matches(sent *Request) bool {
	if r.Times > 0 && r.answered == r.Times || r.Matches != nil && !r.Matches(sent) {
		return false
	}
	r.answered++
	return true
}

// Add adds a rule. The rule that was added first answers first. remove removes the rule, and returns
// how many of its Times are left.
func (r *Requests) Add(rule Rule) (remove func() (left int)) {
	added := &rule
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rules = append(r.rules, added)
	return func() int {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.rules = slices.DeleteFunc(r.rules, func(rule *Rule) bool { return rule == added })
		return added.Times - added.answered
	}
}
